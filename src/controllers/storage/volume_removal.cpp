#include "controllers/storage/volume_removal.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "controllers/storage/live_volume.hpp"
#include "controllers/storage/storage_limits.hpp"
#include "core/storage/volume.hpp"
#include "core/storage/volume_plan.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

}  // namespace

VolumeRemoval::VolumeRemoval(Context context, const StorageSites& sites, ClaimWriter& writer,
                             storage::ClaimTimes& times)
    : context_(context),
      sites_(sites),
      writer_(writer),
      times_(times),
      volumes_(context.home.acquire({.resource = kinds::volumes})) {}

asio::awaitable<Outcome> VolumeRemoval::abandon(kube::Object claim) {
  times_.end_wait(claim.uid());
  if (!claim.has_finalizer(api::finalizers::storage_provisioning)) co_return Outcome::done();
  if (storage::had_volume(claim)) {
    // The data goes with the volume, or stays with it: a cache that does not have the volume yet proves nothing.
    KUBE_CO_TRY(seen, co_await has_live_volume(context_.home.api(), *volumes_, claim));
    if (seen) co_return Outcome::again_after(soon);
  }
  // Look in every place where it may have been begun: users may write both annotations.
  std::set<std::string> clusters{"", std::string(claim.annotation(api::annotations::backing_cluster))};
  if (const auto selected = sites_.selected_virtual_node(claim))
    clusters.emplace(api::VirtualNode(*selected).cluster_id());
  for (const std::string& cluster : clusters) {
    // Without a twin nothing is left there. Without a session, wait for one.
    if (!cluster.empty() && !sites_.has_twin(cluster, claim.ns())) continue;
    auto site = sites_.site_in(claim, cluster);
    if (!site) co_return Outcome::again_after(later);
    KUBE_CO_TRY(live, co_await kube::find_live(sites_.api_of(*site), kinds::claims, site->key),
                "looking at the claim behind it");
    if (live && storage::is_backing_of(*live, claim.uid())) {
      // Another claim of the name may be behind this one, too: 409 is a failure here, and the finalizer stays.
      auto removed = co_await sites_.api_of(*site).remove(kinds::claims, site->key, {.uid = std::string(live->uid())});
      if (!removed && !removed.error().is_not_found())
        co_return Outcome::retry(std::move(removed.error()).in("removing the claim behind it"));
    }
  }
  // A claim that is created late would stay for ever: nothing looks for it once this claim is gone.
  if (const kube::Duration left = times_.left_of_doubt(claim.uid(), context_.clock.now());
      left > kube::Duration::zero())
    co_return Outcome::again_after(std::min(left, later));
  KUBE_CO_TRYV(co_await writer_.release(claim));
  co_return Outcome::done();
}

asio::awaitable<Outcome> VolumeRemoval::remove_volume(kube::ObjectKey key) {
  const auto volume = volumes_->find(key);
  if (!volume || !storage::is_to_be_deleted(*volume)) co_return Outcome::done();
  const auto recorded = storage::backing_of(*volume);
  // As long as the claim behind it exists, a late request to create it is refused.
  if (const kube::Duration left =
          times_.left_of_doubt(kube::string_at(volume->spec(), {"claimRef", "uid"}), context_.clock.now());
      left > kube::Duration::zero())
    co_return Outcome::again_after(left);
  auto site = sites_.site_of(*recorded);
  const auto report = [&](const kube::Failure& failure) {
    context_.events.warning(*volume, kinds::volumes, reasons::volume_delete_failed, failure.text());
  };
  if (!site) {
    report(site.error());
    co_return Outcome::again_after(later);
  }
  // Without a virtual node the peering has ended, and the twin namespace with it.
  if (site->cluster.empty() || site->provider) {
    const std::string_view ns = kube::string_at(volume->spec(), {"claimRef", "namespace"});
    auto live = co_await sites_.api_of(*site).get(kinds::claims, site->key);
    if (!live && !sites_.is_gone(live.error(), *site, ns)) {
      report(live.error());
      co_return Outcome::retry(std::move(live.error()).in("looking at the claim that holds the data"));
    }
    // A claim of another UID is not the one that held this data.
    if (live && live->uid() == recorded->uid) {
      if (!storage::is_backing_of(*live, kube::string_at(volume->spec(), {"claimRef", "uid"}))) {
        report(kube::Failure(kube::Errc::invalid_input, "the claim " + site->key.text() + " in " + site->where +
                                                            " does not say that it holds the data of this volume: " +
                                                            "remove the volume, and also the claim if it does"));
        co_return Outcome::again_after(rarely);
      }
      auto removed = co_await sites_.api_of(*site).remove(kinds::claims, site->key, {.uid = recorded->uid});
      if (!removed && !removed.error().is_conflict() && !sites_.is_gone(removed.error(), *site, ns)) {
        report(removed.error());
        co_return Outcome::retry(std::move(removed.error()).in("removing the claim that holds the data"));
      }
    }
  }
  KUBE_CO_TRY(removed, co_await kube::remove_object(
                           context_.home.api(), kinds::volumes, key,
                           {.options = {.uid = std::string(volume->uid())}, .phase = "removing the volume"}));
  if (removed)
    log_.info("volume deleted", {{"volume", key}, {"cluster", sites_.cluster_of(*site)}, {"claim", recorded->key}});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
