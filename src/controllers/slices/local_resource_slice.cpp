#include "controllers/slices/local_resource_slice.hpp"

#include "core/peering/csr.hpp"
#include "core/slices/denial.hpp"
#include "core/slices/grant.hpp"
#include "core/slices/local_slice.hpp"
#include "core/slices/request.hpp"
#include "kube/base/base64.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::controllers {

using kube::Outcome;

namespace {

/// How much later than a slice its namespace may be seen.
constexpr std::chrono::seconds namespace_lag{3};

/// The request that the slice should have, as the object holds it; "" if there is no key yet.
kube::Result<std::string> wanted_request(const api::ResourceSlice& slice, const ClusterKeys& keys,
                                         std::string_view own_cluster, core::CheckedRequests& checked) {
  if (!keys.key()) return "";
  const core::CertificateName name = core::slice_name(slice.name(), own_cluster);
  // A request that is right is kept: the signature of an ECDSA key is different each time.
  if (auto present = kube::decode_base64(slice.csr()); present && !present->empty())
    if (checked.check(*present, name, &keys.key()->public_key())) return std::string(slice.csr());
  KUBE_TRY(made, core::make_signing_request(*keys.key(), name), "making a signing request");
  return kube::encode_base64(made);
}

}  // namespace

LocalResourceSliceController::LocalResourceSliceController(TenantNamespaces& namespaces, ClusterKeys& keys,
                                                           Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      keys_(keys),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      controller_(context_, {.name = "resourceslice_local"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(slices_);
  controller_.reads(keys_);
  keys_.subscribe([this] { controller_.enqueue_all(slices_->store()); });
  namespaces_.watched_by(controller_, slices_);
}

asio::awaitable<Outcome> LocalResourceSliceController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto slice = slices_->find(key);
  if (!slice || slice->is_deleting()) co_return Outcome::done();
  const api::ResourceSlice view(*slice);
  if (!view.is_local() || namespaces_.is_ending(key.ns)) co_return Outcome::done();
  const std::string& own = context_.settings.cluster_id;
  KUBE_CO_TRY(csr, wanted_request(view, keys_, own, checked_));
  const std::string peer = namespaces_.peer_of(key.ns);
  namespace action = core::local_slice_action;
  const core::LocalSlicePlan plan = core::plan_local_slice(*slice, own, peer, csr);
  if (const auto* refuse = std::get_if<action::Refuse>(&plan)) {
    // Applied together with its namespace, a slice may be seen first.
    const auto created = kube::parse_time(slice->creation_timestamp());
    if (peer.empty() && created && context_.clock.wall() - *created < namespace_lag)
      co_return Outcome::again_after(namespace_lag);
    context_.events.warning(*slice, api::kinds::resource_slices, "InvalidResourceSlice", refuse->message);
    co_return Outcome::done();
  }
  // Liqo answers only for its own classes, so without this nothing would ever report why a slice waits.
  if (!core::is_built_in_class(view.slice_class()) && !view.condition(api::slice_conditions::resources))
    context_.events.normal(*slice, api::kinds::resource_slices, "WaitingForClass",
                           "class " + std::string(view.slice_class().substr(0, 100)) +
                               " is none of Liqo's: a controller of the provider's own has to answer; ask its "
                               "operator whether there is one");
  if (auto denied = core::denied_request_text(*slice))
    context_.events.warning(*slice, api::kinds::resource_slices, core::slice_reasons::request_denied,
                            std::move(*denied));
  const auto* due = std::get_if<action::Patch>(&plan);
  if (!due) co_return Outcome::done();
  KUBE_CO_TRYV(
      co_await kube::merge_patch(context_.home.api(), *slices_, key,
                                 {.body = kube::json::serialize(due->patch), .phase = "completing the ResourceSlice"}));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
