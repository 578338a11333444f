// How a claim gets its volume: the claim behind it first, then the volume between the two.
#include "controllers/common/guarded_write.hpp"
#include "controllers/storage/storage_parts.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/peering/replication.hpp"
#include "core/slices/policy.hpp"
#include "kube/base/printable.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

}  // namespace

asio::awaitable<Outcome> StorageProvisioner::create_backing(kube::Object claim, Site& site) {
  kube::Result<kube::Object> forged = kube::fail(kube::Errc::missing, "");
  if (site.cluster.empty()) {
    if (!policy_ || !policy_->is_known(core::policy_settings::storage_class_name)) {
      co_await tell(claim, reasons::provisioning_failed,
                    "no volume is made while the setting of the storage class cannot be read: correct " +
                        std::string(core::policy_settings::storage_class_name) + " in ConfigMap " +
                        std::string(core::policy_config_map));
      co_return Outcome::again_after(later);
    }
    forged = storage::forge_real_claim(claim, site.key.ns, policy_->storage_class);
  } else {
    const api::VirtualNode offers(*site.virtual_node);
    if (offers.storage_classes().empty())
      co_return co_await reschedule(claim, site.where + " offers no storage classes: the pod has to run elsewhere");
    forged = storage::forge_remote_claim(claim, site.key.ns, offers, site.reach->forging);
  }
  if (!forged) {
    co_await tell(claim, reasons::provisioning_failed, forged.error().text());
    co_return Outcome::stop(std::move(forged.error()));
  }
  if (site.cluster.empty()) {
    const kube::ObjectKey node{"", std::string(claim.annotation(api::annotations::selected_node))};
    auto found = co_await context_.home.api().get(kube::resources::nodes, node);
    if (!found && !found.error().is_not_found())
      co_return Outcome::retry(std::move(found.error()).in("looking at the selected node"));
    // A node that was virtual a moment ago, or is about to be, is no place for data of this cluster.
    if (!found || found->label(api::labels::type) == api::labels::type_virtual_node) {
      co_await tell(claim, reasons::provisioning_failed, "there is no node " + node.name + " to make the volume for");
      co_return Outcome::again_after(later);
    }
    if (auto made = co_await ensure_storage_namespace(); !made) {
      if (made.error().code() != kube::Errc::invalid_input) co_return Outcome::retry(std::move(made.error()));
      co_await tell(claim, reasons::provisioning_failed, made.error().text());
      co_return Outcome::again_after(later);
    }
  }
  // The claim is held first, so that nothing is left behind where this process ends in between.
  auto held = co_await hold(claim, site);
  if (!held) co_return Outcome::retry(std::move(held.error()));
  if (!*held) co_return Outcome::again_after(soon);
  const kube::TimePoint sent_at = context_.clock.now();
  auto created = co_await api_of(site).create(kinds::claims, *forged);
  if (!created && core::may_be_carried_out(created.error())) doubt(claim.uid(), sent_at);
  if (!created && !created.error().is_already_exists()) {
    if (created.error().is_permanent())
      co_await tell(claim, reasons::provisioning_failed,
                    site.where + " refuses the claim: " + kube::one_line(created.error().text(), core::max_refusal));
    co_return Outcome::retry(std::move(created.error()).in("making the claim behind it"));
  }
  if (created) log_.info("claim made", {{"claim", claim.key()}, {"behind", site.key}, {"cluster", cluster_of(site)}});
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> StorageProvisioner::take_volume(kube::Object claim) {
  const std::string name(storage::volume_to_take(claim));
  auto volumes = co_await context_.home.api().list(kinds::volumes, "",
                                                   {.selection = {.field_selector = kube::name_is(name)}}, max_bytes);
  if (!volumes) co_return Outcome::retry(std::move(volumes.error()).in("looking for the volume to take"));
  const auto refuse = [&](std::string why) {
    context_.events.warning(claim, kinds::claims, reasons::provisioning_failed, std::move(why));
    return Outcome::again_after(later);
  };
  const auto given = volumes->items.empty() ? kube::Result<kube::Object>(kube::fail(kube::Errc::missing, ""))
                                            : kube::Object::from(std::move(volumes->items.front()));
  if (!given || !storage::is_given_to(*given, claim))
    co_return refuse("there is no PersistentVolume " + kube::in_quotes(name) +
                     " that is free and given to this claim, as its annotation " +
                     std::string(api::annotations::takes_volume) + " says");
  const storage::Backing recorded = *storage::recorded_backing(*given);
  auto site = site_of(recorded);
  if (!site) co_return refuse(site.error().text());
  if (!site->cluster.empty() && !site->provider) co_return refuse("there is no virtual node of " + site->where);
  auto backing = co_await api_of(*site).get(kinds::claims, site->key);
  if (!backing && !backing.error().is_not_found())
    co_return Outcome::retry(std::move(backing.error()).in("looking at the claim that holds the data"));
  if (!backing || backing->uid() != recorded.uid || backing->is_deleting())
    co_return refuse("the claim " + recorded.key.text() + " in " + site->where + ", which held the data of " + name +
                     ", is gone");
  if (!storage::is_backing_of(*backing, claim.uid())) {
    backing = co_await api_of(*site).patch(
        kinds::claims, site->key, {kube::PatchType::merge, guarded_patch(*backing, storage::backing_notes(claim))});
    if (!backing) co_return Outcome::retry(std::move(backing.error()).in("taking the claim that holds the data"));
  }
  // The claim notes where its data is, for the case that the volume is lost.
  auto noted = co_await note_backing(claim, *site);
  if (!noted) co_return Outcome::retry(std::move(noted.error()));
  // The volume stays whatever becomes of the claim, until whoever gives it to the claim says otherwise.
  co_return co_await create_volume(std::move(*noted), std::move(*backing), *site, "Retain");
}

asio::awaitable<kube::Result<bool>> StorageProvisioner::hold(kube::Object claim, const Site& site) {
  kube::Api& home = context_.home.api();
  kube::Result<kube::Object> live = kube::fail(kube::Errc::missing, "");
  auto patch = kube::finalizer_patch(claim, api::finalizers::storage_provisioning, true);
  if (!patch && (claim.annotation(api::annotations::backing_claim) != site.key.text() ||
                 claim.annotation(api::annotations::backing_cluster) != site.cluster))
    patch.emplace();
  if (patch) {
    json::object& notes = kube::ensure_object(kube::ensure_object(*patch, "metadata"), "annotations");
    notes[api::annotations::backing_claim] = json::string(site.key.text());
    notes[api::annotations::backing_cluster] = site.cluster.empty() ? json::value() : json::string(site.cluster);
    live = co_await home.patch(kinds::claims, claim.key(),
                               {kube::PatchType::merge, guarded_patch(claim, std::move(*patch))});
  } else {
    live = co_await home.get(kinds::claims, claim.key());
  }
  if (!live && live.error().is_not_found()) {
    claims_->observe_gone(claim.key(), claim.uid());
    co_return false;
  }
  if (!live) co_return kube::fail(std::move(live.error()), "holding the claim");
  const bool is_held =
      live->uid() == claim.uid() && !live->is_deleting() && live->has_finalizer(api::finalizers::storage_provisioning);
  claims_->observe(std::move(*live));
  co_return is_held;
}

asio::awaitable<Outcome> StorageProvisioner::create_volume(kube::Object claim, kube::Object backing, Site& site,
                                                           std::string policy) {
  const auto storage_class = classes_->find({"", context_.settings.storage.storage_class});
  if (!storage_class) co_return Outcome::again_after(later);
  std::optional<kube::Object> real;
  if (site.cluster.empty()) {
    auto found = co_await context_.home.api().get(kinds::volumes,
                                                  {"", std::string(kube::string_at(backing.spec(), {"volumeName"}))});
    if (!found) co_return Outcome::retry(std::move(found.error()).in("looking at the volume of the claim behind it"));
    real = std::move(*found);
  }
  const storage::Backing recorded{.cluster = site.cluster, .key = site.key, .uid = std::string(backing.uid())};
  kube::Object volume = storage::forge_volume(
      claim, *storage_class, {.recorded = recorded, .claim = backing, .volume = real ? &*real : nullptr});
  if (!policy.empty()) volume.mutable_spec()["persistentVolumeReclaimPolicy"] = policy;
  auto created = co_await context_.home.api().create(kinds::volumes, volume);
  if (!created) {
    if (created.error().is_permanent())
      context_.events.warning(claim, kinds::claims, reasons::provisioning_failed, created.error().text());
    co_return Outcome::retry(std::move(created.error()).in("making the volume"));
  }
  log_.info("volume made", {{"claim", claim.key()}, {"volume", created->name()}, {"cluster", cluster_of(site)}});
  context_.events.normal(claim, kinds::claims, reasons::provisioning_succeeded,
                         "the volume is in " + site.where + ", by the claim " + site.key.text());
  volumes_->observe(std::move(*created));
  auto released = co_await remove_finalizer(context_.home.api(), *claims_, latest_of(*claims_, claim),
                                            api::finalizers::storage_provisioning);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> StorageProvisioner::reschedule(kube::Object claim, std::string message) {
  co_await tell(claim, reasons::rescheduling_required, std::move(message));
  json::object changes{
      {"metadata", json::object{{"annotations", json::object{{api::annotations::selected_node, nullptr},
                                                             {api::annotations::backing_claim, nullptr},
                                                             {api::annotations::backing_cluster, nullptr}}}}}};
  auto patched = co_await kube::merge_patch(context_.home.api(), *claims_, claim.key(),
                                            {.body = guarded_patch(latest_of(*claims_, claim), std::move(changes)),
                                             .phase = "having the pod scheduled anew"});
  if (!patched) co_return Outcome::retry(std::move(patched.error()));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> StorageProvisioner::ensure_storage_namespace() {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"", context_.settings.storage.storage_namespace};
  auto found = co_await home.get(kube::resources::namespaces, key);
  if (!found && !found.error().is_not_found())
    co_return kube::fail(std::move(found.error()), "looking at the namespace of the data");
  // Whoever owns the namespace owns the data in it: a twin of a consumer is its own, and so is what somebody else made.
  if (found && (found->label(api::labels::storage_provisioner) != "true" ||
                found->has_annotation(api::annotations::managed_by_namespace_map)))
    co_return kube::fail(kube::Errc::invalid_input,
                         "namespace " + key.name + ", which is to hold the data, was not made for it: remove it, or " +
                             "label it " + std::string(api::labels::storage_provisioner) +
                             "=true where it is nobody else's");
  if (found) co_return kube::Result<void>();
  kube::Object made = kube::Object::make(kube::resources::namespaces, key);
  made.set_label(api::labels::storage_provisioner, "true");
  auto created = co_await home.create(kube::resources::namespaces, made);
  // A failure also where somebody else has made it first: the next look shows whose it is.
  if (!created) co_return kube::fail(std::move(created.error()), "making the namespace of the data");
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
