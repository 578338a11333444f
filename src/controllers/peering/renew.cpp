#include "controllers/peering/renew.hpp"

#include "controllers/common/collector_time.hpp"
#include "controllers/common/ensure_owned.hpp"
#include "controllers/common/guarded_write.hpp"
#include "core/common/digest.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/renewal.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/renew.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;

}  // namespace

LocalRenewer::LocalRenewer(TenantNamespaces& namespaces, ClusterKeys& keys, ProviderBudgets& budgets, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      keys_(keys),
      budgets_(budgets),
      identities_(context_.home.acquire({.resource = api::kinds::identities})),
      renews_(context_.home.acquire({.resource = api::kinds::renews})),
      controller_(context_, {.name = "renew_local"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(identities_);
  // A Renew has the name of its Identity.
  controller_.watch(renews_);
  namespaces_.watched_by(controller_, identities_);
  controller_.reads(keys_);
  keys_.subscribe([this] { controller_.enqueue_all(identities_->store()); });
}

asio::awaitable<Outcome> LocalRenewer::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto found = identities_->find(key);
  if (!found || found->is_deleting()) co_return Outcome::done();
  const kube::Object& identity = *found;
  const api::Identity view(identity);
  const std::string peer = namespaces_.peer_of(key.ns);
  if (!view.is_control_plane() || peer.empty() || peer != view.cluster_id()) co_return Outcome::done();

  const kube::Object wanted = core::forge_renew(identity, context_.settings.cluster_id);
  const auto live = renews_->find(key);
  const auto mend = [&wanted](kube::Object& renew) {
    renew.set_labels(wanted.labels());
    for (const auto& [field, value] : wanted.spec()) renew.mutable_spec()[field] = value;
  };
  KUBE_CO_TRY(ensured, co_await ensure_owned(context_.home.api(), *renews_,
                                             {.owner = identity, .wanted = wanted, .mend = mend, .name = "the Renew"}));
  if (!ensured) {
    context_.events.warning(identity, api::kinds::identities, "RenewExists",
                            "the Renew " + key.name + " is not of this Identity: delete it");
    co_return Outcome::again_after(collector_time);
  }
  if (!live || live->is_deleting()) co_return Outcome::done();
  co_return co_await take_answer(identity, *live);
}

asio::awaitable<Outcome> LocalRenewer::take_answer(const kube::Object& identity, const kube::Object& renew) {
  const json::object& answer = api::Renew(renew).auth_params();
  if (answer.empty() || !keys_.key()) co_return Outcome::done();
  // A Renew shows its last answer for ever; copying it again would undo later changes of an operator.
  const std::string digest = core::sha256_hex(json::serialize(answer));
  if (identity.annotation(api::annotations::taken_answer) == digest) co_return Outcome::done();
  const bool is_news = answer != api::Identity(identity).auth_params();
  const auto params = api::read_auth_params(answer);
  const auto certificate = core::read_certificate(params ? params->certificate_pem : "");
  if (is_news && (!certificate || certificate->key != keys_.key()->public_key())) {
    context_.events.warning(
        identity, api::kinds::identities, "InvalidRenewal",
        "the provider sent credentials that are not for the key of this cluster; the old ones stay");
    co_return Outcome::done();
  }
  kube::Object next = identity;
  next.mutable_spec()["authParams"] = answer;
  next.set_annotation(api::annotations::taken_answer, digest);
  const auto budget = budgets_.of(std::string(api::Identity(identity).cluster_id()));
  if (const kube::Duration wait = budget->correct_now(next.text().size()); wait > kube::Duration::zero())
    co_return Outcome::again_after(wait);
  KUBE_CO_TRY(replaced, co_await context_.home.api().replace(api::kinds::identities, next),
              "taking the renewed credentials");
  identities_->observe(std::move(replaced));
  if (is_news)
    context_.events.normal(identity, api::kinds::identities, "AuthParamsUpdated",
                           "the provider has renewed the credentials");
  co_return Outcome::done();
}

RemoteRenewer::RemoteRenewer(TenantNamespaces& namespaces, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      renews_(context_.home.acquire({.resource = api::kinds::renews})),
      controller_(context_, {.name = "renew_remote"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(renews_);
  controller_.watch(tenants_, kube::in_namespace_of(renews_));
  namespaces_.watched_by(controller_, renews_);
}

asio::awaitable<Outcome> RemoteRenewer::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto renew = renews_->find(key);
  const std::string peer = namespaces_.peer_of(key.ns);
  if (!renew || renew->is_deleting() || peer.empty()) co_return Outcome::done();
  const api::Renew view(*renew);
  // If both clusters lend to each other, our own Renews to the same peer are in the same namespace.
  if (renew->label(api::labels::replicated) != "true" || renew->label(api::labels::replication_origin) != peer ||
      view.consumer_cluster_id() != peer || view.identity_type() != api::control_plane_identity)
    co_return Outcome::done();
  std::optional<kube::Object> tenant;
  // Only an admitted Tenant has credentials, and only one in a namespace is admitted.
  for (kube::Object& found : tenants_->objects_in(key.ns))
    if (api::Tenant(found).cluster_id() == peer && !api::Tenant(found).auth_params().empty()) tenant = std::move(found);
  if (!tenant) co_return Outcome::done();
  const json::object& params = api::Tenant(*tenant).auth_params();
  if (view.auth_params() == params) co_return Outcome::done();
  json::object answer = params;
  for (const auto& [field, value] : view.auth_params())
    if (!answer.contains(field)) answer[field] = nullptr;
  json::object changes;
  kube::ensure_object(changes, "status")["authParams"] = std::move(answer);
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *renews_, key,
                                          {.body = guarded_patch(*renew, std::move(changes)),
                                           .phase = "answering a Renew",
                                           .options = {.subresource = "status"}}));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
