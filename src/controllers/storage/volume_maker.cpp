#include "controllers/storage/volume_maker.hpp"

#include "controllers/storage/live_volume.hpp"
#include "controllers/storage/storage_limits.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/storage/volume.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

}  // namespace

VolumeMaker::VolumeMaker(Context context, const StorageSites& sites, ClaimWriter& writer, storage::ClaimTimes& times,
                         const std::function<void()>& changed)
    : context_(context),
      sites_(sites),
      writer_(writer),
      times_(times),
      volumes_(context.home.acquire({.resource = kinds::volumes})),
      classes_(context.home.acquire({.resource = kinds::storage_classes})),
      config_(context.home.acquire({.resource = kube::resources::config_maps,
                                    .ns = context.settings.liqo_namespace,
                                    .selection = {.field_selector = kube::name_is(core::policy_config_map)}})) {
  classes_.subscribe([changed](const kube::Change&) { changed(); });
  const auto read_policy = [this, changed] {
    if (!config_->has_synced()) return;
    const auto map = config_->find({context_.settings.liqo_namespace, std::string(core::policy_config_map)});
    policy_ = core::read_policy(context_.settings.slices, map ? &*map : nullptr, policy_ ? &*policy_ : nullptr).policy;
    changed();
  };
  config_.subscribe([read_policy](const kube::Change&) { read_policy(); }, read_policy);
}

asio::awaitable<Outcome> VolumeMaker::create_backing(kube::Object claim, const StorageSite& site) {
  const bool is_here = site.cluster.empty();
  if (is_here && (!policy_ || !policy_->is_known(core::policy_settings::storage_class_name))) {
    co_await writer_.report(claim, reasons::provisioning_failed,
                            "no volume is made while the setting of the storage class cannot be read: correct " +
                                std::string(core::policy_settings::storage_class_name) + " in ConfigMap " +
                                std::string(core::policy_config_map));
    co_return Outcome::again_after(later);
  }
  if (!is_here && api::VirtualNode(*site.virtual_node).storage_classes().empty())
    co_return co_await writer_.reschedule(claim,
                                          site.where + " offers no storage classes: the pod has to run elsewhere");
  auto forged = is_here ? storage::forge_real_claim(claim, site.key.ns, policy_->storage_class)
                        : storage::forge_remote_claim(claim, site.key.ns, api::VirtualNode(*site.virtual_node),
                                                      site.reach->forging);
  if (!forged) {
    co_await writer_.report(claim, reasons::provisioning_failed, forged.error().text());
    co_return Outcome::stop(std::move(forged.error()));
  }
  if (is_here) {
    const kube::ObjectKey node{"", std::string(claim.annotation(api::annotations::selected_node))};
    KUBE_CO_TRY(found, co_await kube::find_live(context_.home.api(), kube::resources::nodes, node),
                "looking at the selected node");
    // A node that was virtual a moment ago, or is about to be, is no place for data of this cluster.
    if (!found || found->label(api::labels::type) == api::labels::type_virtual_node) {
      co_await writer_.report(claim, reasons::provisioning_failed,
                              "there is no node " + node.name + " to make the volume for");
      co_return Outcome::again_after(later);
    }
    if (auto made = co_await ensure_storage_namespace(); !made) {
      if (made.error().code() != kube::Errc::invalid_input) co_return Outcome::retry(std::move(made.error()));
      co_await writer_.report(claim, reasons::provisioning_failed, made.error().text());
      co_return Outcome::again_after(later);
    }
  }
  // The claim is held first, so that nothing is left behind if this process ends in between.
  KUBE_CO_TRY(held, co_await writer_.hold(claim, site));
  if (!held) co_return Outcome::again_after(soon);
  if (claim.has_finalizer(api::finalizers::storage_provisioning)) {
    // It was begun before: the creation of the volume may have seemed to fail.
    KUBE_CO_TRY(has_volume, co_await has_live_volume(context_.home.api(), *volumes_, claim));
    if (has_volume) co_return Outcome::again_after(soon);
  }
  const kube::TimePoint sent_at = context_.clock.now();
  auto created = co_await sites_.api_of(site).create(kinds::claims, *forged);
  if (!created && core::may_be_carried_out(created.error())) {
    times_.drop_past_doubts(context_.clock.now());
    times_.doubt(claim.uid(), sent_at);
  }
  if (!created && !created.error().is_already_exists()) {
    if (created.error().is_permanent())
      co_await writer_.report(
          claim, reasons::provisioning_failed,
          site.where + " refuses the claim: " + kube::one_line(created.error().text(), core::max_refusal));
    co_return Outcome::retry(std::move(created.error()).in("making the claim behind it"));
  }
  if (created)
    log_.info("claim made", {{"claim", claim.key()}, {"behind", site.key}, {"cluster", sites_.cluster_of(site)}});
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> VolumeMaker::create_volume(kube::Object claim, kube::Object backing, const StorageSite& site,
                                                    std::string policy) {
  const auto storage_class = classes_->find({"", context_.settings.storage.storage_class});
  if (!storage_class) co_return Outcome::again_after(later);
  std::optional<kube::Object> real;
  if (site.cluster.empty()) {
    KUBE_CO_TRY(found,
                co_await context_.home.api().get(kinds::volumes,
                                                 {"", std::string(kube::string_at(backing.spec(), {"volumeName"}))}),
                "looking at the volume of the claim behind it");
    real = std::move(found);
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
  log_.info("volume made", {{"claim", claim.key()}, {"volume", created->name()}, {"cluster", sites_.cluster_of(site)}});
  context_.events.normal(claim, kinds::claims, reasons::provisioning_succeeded,
                         "the volume is in " + site.where + ", by the claim " + site.key.text());
  volumes_->observe(std::move(*created));
  KUBE_CO_TRYV(co_await writer_.release(writer_.latest(claim)));
  co_return Outcome::again_after(soon);
}

asio::awaitable<kube::Result<void>> VolumeMaker::ensure_storage_namespace() {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"", context_.settings.storage.storage_namespace};
  KUBE_CO_TRY(found, co_await kube::find_live(home, kube::resources::namespaces, key),
              "looking at the namespace of the data");
  // The owner of the namespace owns the data in it: a twin belongs to its consumer, and any other namespace to its
  // creator.
  if (found && (found->label(api::labels::storage_provisioner) != "true" ||
                found->has_annotation(api::annotations::managed_by_namespace_map)))
    co_return kube::fail(kube::Errc::invalid_input,
                         "namespace " + key.name + ", which is to hold the data, was not made for it: remove it, or " +
                             "label it " + std::string(api::labels::storage_provisioner) +
                             "=true if it is nobody else's");
  if (found) co_return kube::Result<void>();
  kube::Object made = kube::Object::make(kube::resources::namespaces, key);
  made.set_label(api::labels::storage_provisioner, "true");
  // A namespace that another client has made first is a failure, too: the next look shows its owner.
  KUBE_CO_TRYV(co_await home.create(kube::resources::namespaces, made), "making the namespace of the data");
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
