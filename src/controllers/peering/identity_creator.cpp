#include "controllers/peering/identity_creator.hpp"

#include "controllers/common/collector_time.hpp"
#include "controllers/common/ensure_owned.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "kube/runtime/remove_object.hpp"
#include "kube/runtime/to_keys.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;

/// Whether the slice is ours, for the provider `peer`, and no copy of a slice of that cluster.
bool is_local_for(const kube::Object& slice, std::string_view peer) {
  return !peer.empty() && !slice.has_label(api::labels::replicated) &&
         slice.label(api::labels::replication) == "true" && slice.label(api::labels::replication_destination) == peer &&
         api::ResourceSlice(slice).provider() == peer;
}

}  // namespace

IdentityCreator::IdentityCreator(TenantNamespaces& namespaces, ProviderBudgets& budgets, Context context)
    : context_(std::move(context)),
      namespaces_(namespaces),
      budgets_(budgets),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      identities_(context_.home.acquire({.resource = api::kinds::identities})),
      controller_(context_, {.name = "identity_creator"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(slices_);
  controller_.watch(identities_, kube::without_prefix(core::slice_identity_name(""), slices_));
  namespaces_.watched_by(controller_, slices_);
}

asio::awaitable<Outcome> IdentityCreator::reconcile(kube::WorkKey work) {
  const auto slice = slices_->find(work.object);
  const std::string peer = namespaces_.peer_of(work.object.ns);
  if (!slice || slice->is_deleting() || !is_local_for(*slice, peer)) co_return Outcome::done();
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{work.object.ns, core::slice_identity_name(slice->name())};
  const api::ResourceSlice view(*slice);
  if (view.is_denied(api::slice_conditions::authentication)) {
    const auto live = identities_->find(key);
    if (!live || !core::is_controlled_by(*live, *slice) || live->is_deleting()) co_return Outcome::done();
    KUBE_CO_TRY(removed, co_await kube::remove_object(home, api::kinds::identities, key,
                                                      {.options = {.uid = std::string(live->uid())},
                                                       .phase = "removing the Identity of a denied slice"}));
    if (removed)
      context_.events.normal(*slice, api::kinds::resource_slices, "IdentityDeleted",
                             "the provider denies this slice, so its credentials are removed");
    co_return Outcome::done();
  }
  const json::object& params = view.auth_params();
  if (!view.is_accepted(api::slice_conditions::authentication) || params.empty()) co_return Outcome::done();

  kube::Object wanted = core::forge_identity({.tenant_namespace = key.ns,
                                              .provider = peer,
                                              .auth_params = params,
                                              .remote_namespace = "",
                                              .slice = std::string(slice->name())});
  wanted.add_owner_reference(core::owner_of(*slice));
  const auto mend = [&wanted](kube::Object& identity) {
    identity.set_labels(wanted.labels());
    identity.mutable_spec() = wanted.spec();
  };
  OwnedObject owned{.owner = *slice, .wanted = wanted, .mend = mend, .name = "the slice's Identity"};
  if (const auto due = due_write(*identities_, owned))
    if (const kube::Duration wait = budgets_.of(peer)->correct_now(due->text().size()); wait > kube::Duration::zero())
      co_return Outcome::again_after(wait);
  KUBE_CO_TRY(ensured, co_await ensure_owned(home, *identities_, std::move(owned)));
  if (!ensured) {
    context_.events.warning(*slice, api::kinds::resource_slices, "IdentityExists",
                            "the Identity " + key.name + " is not of this slice: delete one of the two");
    co_return Outcome::again_after(collector_time);
  }
  co_return Outcome::done();
}

}  // namespace liqo::controllers
