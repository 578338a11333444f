#include "controllers/slices/slice_identity.hpp"

#include <algorithm>

#include "controllers/slices/slice_tenant.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/handshake.hpp"
#include "core/slices/status.hpp"
#include "kube/base/base64.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;

constexpr kube::Duration max_wait = 24h;

/// The signing request of the slice, in PEM. Errors: what is wrong with it. It must be for the slice's name and, if the
/// tenant has shown its key, for that key.
kube::Result<std::string> checked_request(const api::ResourceSlice& slice, const api::Tenant& tenant,
                                          std::string_view peer, core::CheckedRequests& requests) {
  KUBE_TRY(pem, kube::decode_base64(slice.csr()), "spec.csr");
  std::optional<core::PublicKey> key;
  if (tenant.needs_handshake()) {
    KUBE_TRY(parsed, core::PublicKey::parse(tenant.public_key()), "the Tenant's public key");
    key = std::move(parsed);
  }
  KUBE_TRYV(requests.check(pem, core::slice_name(slice.name(), peer), key ? &*key : nullptr));
  return std::move(pem);
}

}  // namespace

SliceIdentityController::SliceIdentityController(TenantNamespaces& namespaces, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      issuer_(context_),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      controller_(context_, {.name = "resourceslice_remote"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(slices_);
  controller_.watch(tenants_, kube::in_namespace_of(slices_));
  namespaces_.watched_by(controller_, slices_);
  namespaces_.subscribe([this, slice_of = kube::without_prefix(core::certificate_secret_name("") + "-", slices_)](
                            const kube::ObjectKey& secret) {
    if (const auto slice = slice_of(secret)) controller_.enqueue({slice->ns, *slice});
  });
  issuer_.on_address_change([this] { controller_.enqueue_all(slices_->store()); });
}

asio::awaitable<Outcome> SliceIdentityController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto slice = slices_->find(key);
  if (!slice || slice->is_deleting()) co_return Outcome::done();
  const api::ResourceSlice view(*slice);
  const std::string peer = namespaces_.peer_of(key.ns);
  // SliceGrantController reports a slice in the tenant namespace of another consumer.
  if (peer.empty() || !view.is_replica() || view.csr().empty() || view.consumer() != peer) co_return Outcome::done();
  const auto tenant = tenant_of(tenants_->store(), key.ns, peer);
  if (!tenant) co_return Outcome::done();
  const api::Tenant tenant_view(*tenant);
  // A consumer that has not shown its key gets nothing yet; the Tenant's status enqueues the slice.
  if (tenant_view.needs_handshake() && !core::was_admitted(tenant_view)) co_return Outcome::done();

  const auto csr = checked_request(view, tenant_view, peer, checked_);
  CertificateOrder order{.tenant_namespace = key.ns,
                         .consumer_cluster_id = peer,
                         .slice_name = key.name,
                         .csr_pem = csr.value_or(""),
                         .proxy_url = std::string(tenant_view.proxy_url()),
                         .owner = core::owner_of(*slice)};
  auto issued = csr ? co_await issuer_.auth_params(std::move(order))
                    : kube::Result<IssuedParams>(kube::fail(kube::Errc::invalid_input, csr.error().text()));
  if (!issued && issued.error().code() == kube::Errc::invalid_input) {
    const std::string text = issued.error().text();
    KUBE_CO_TRYV(co_await answer(key, std::string(slice->uid()), false, nullptr));
    context_.events.warning(*slice, api::kinds::resource_slices, "InvalidCSR",
                            "spec.csr is refused: " + text + "; remove it, and the consumer's Liqo makes a new one");
    co_return Outcome::done();
  }
  if (!issued) {
    if (issued.error().code() == kube::Errc::missing)
      context_.events.warning(*slice, api::kinds::resource_slices, "AuthParamsFailed", issued.error().text());
    co_return Outcome::retry(std::move(issued.error()).in("issuing the slice's certificate"));
  }
  KUBE_CO_TRYV(co_await answer(key, std::string(slice->uid()), true, &issued->auth_params));
  if (issued->renewed)
    context_.events.normal(*slice, api::kinds::resource_slices, "CertificateIssued",
                           "the slice has a certificate; it will be renewed at " + kube::format_time(issued->renew_at));
  // Wait in short pieces: the monotonic clock stands still while a machine sleeps, but certificates age.
  const kube::Duration left = std::max<kube::Duration>(issued->renew_at - context_.clock.wall(), 1s);
  co_return Outcome::again_after(std::min(left, max_wait));
}

asio::awaitable<kube::Result<void>> SliceIdentityController::answer(kube::ObjectKey key, std::string uid, bool accepted,
                                                                    const json::object* auth_params) {
  // Use the latest state: the decision on the resources may have been written meanwhile.
  const auto slice = slices_->find(key);
  if (!slice || slice->uid() != uid) co_return kube::Result<void>();
  auto patch = core::plan_slice_authentication(*slice, accepted, auth_params, context_.clock.wall());
  if (!patch) co_return kube::Result<void>();
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *slices_, key,
      {.body = json::serialize(*patch), .phase = "answering the ResourceSlice", .options = {.subresource = "status"}}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
