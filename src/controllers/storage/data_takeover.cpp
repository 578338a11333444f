#include "controllers/storage/data_takeover.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "controllers/common/guarded_write.hpp"
#include "controllers/storage/storage_limits.hpp"
#include "core/storage/volume.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

/// The volume that was found by its name, if it is given to the claim.
std::optional<kube::Object> given_volume(std::vector<kube::json::value> found, const kube::Object& claim) {
  if (found.empty()) return std::nullopt;
  auto volume = kube::Object::from(std::move(found.front()));
  if (!volume || !storage::is_given_to(*volume, claim)) return std::nullopt;
  return std::move(*volume);
}

}  // namespace

DataTakeover::DataTakeover(Context context, const StorageSites& sites, ClaimWriter& writer, VolumeMaker& maker)
    : context_(context),
      sites_(sites),
      writer_(writer),
      maker_(maker),
      volumes_(context.home.acquire({.resource = kinds::volumes})) {}

asio::awaitable<Outcome> DataTakeover::take_volume(kube::Object claim) {
  const std::string name(storage::volume_to_take(claim));
  KUBE_CO_TRY(volumes,
              co_await context_.home.api().list(kinds::volumes, "",
                                                {.selection = {.field_selector = kube::name_is(name)}}, max_bytes),
              "looking for the volume to take");
  const auto refuse = [&](std::string why) {
    context_.events.warning(claim, kinds::claims, reasons::provisioning_failed, std::move(why));
    return Outcome::again_after(later);
  };
  const auto given = given_volume(std::move(volumes.items), claim);
  if (!given)
    co_return refuse("there is no PersistentVolume " + kube::in_quotes(name) +
                     " that is free and given to this claim, as its annotation " +
                     std::string(api::annotations::takes_volume) + " says");
  const storage::Backing recorded = *storage::recorded_backing(*given);
  auto site = sites_.site_of(recorded);
  if (!site) co_return refuse(site.error().text());
  if (!site->cluster.empty() && !site->provider) co_return refuse("there is no virtual node of " + site->where);
  KUBE_CO_TRY(backing, co_await kube::find_live(sites_.api_of(*site), kinds::claims, site->key),
              "looking at the claim that holds the data");
  if (!backing || backing->uid() != recorded.uid || backing->is_deleting())
    co_return refuse("the claim " + recorded.key.text() + " in " + site->where + ", which held the data of " + name +
                     ", is gone");
  if (!storage::is_backing_of(*backing, claim.uid())) {
    KUBE_CO_TRY(
        taken,
        co_await sites_.api_of(*site).patch(
            kinds::claims, site->key, {kube::PatchType::merge, guarded_patch(*backing, storage::backing_notes(claim))}),
        "taking the claim that holds the data");
    backing = std::move(taken);
  }
  // The claim records where its data is, in case the volume is lost.
  KUBE_CO_TRY(noted, co_await writer_.note_backing(claim, *site));
  // The volume stays whatever becomes of the claim, until the user who gave it to the claim changes its policy.
  co_return co_await maker_.create_volume(std::move(noted), std::move(*backing), *site, "Retain");
}

asio::awaitable<Outcome> DataTakeover::adopt(kube::Object claim, kube::Object volume, std::string cluster) {
  auto site = sites_.site_in(claim, cluster);
  if (!site) co_return Outcome::again_after(later);
  auto backing = co_await sites_.api_of(*site).get(kinds::claims, site->key);
  if (!backing && !sites_.is_gone(backing.error(), *site, claim.ns()))
    co_return Outcome::retry(std::move(backing.error()).in("looking at the claim that holds the data"));
  const bool is_taken = backing && storage::is_backing_of(*backing, claim.uid());
  const core::ClusterPair* pair = site->reach ? &site->reach->forging.clusters : nullptr;
  if (!backing || !(is_taken || storage::is_unrecorded_backing(*backing, claim, pair))) {
    context_.events.warning(claim, kinds::claims, reasons::volume_lost,
                            "there is no claim " + site->key.text() + " in " + site->where +
                                " that the Go version has made to hold the data of " + std::string(volume.name()));
    co_return Outcome::again_after(rarely);
  }
  if (!is_taken) {
    KUBE_CO_TRYV(
        co_await sites_.api_of(*site).patch(
            kinds::claims, site->key, {kube::PatchType::merge, guarded_patch(*backing, storage::backing_notes(claim))}),
        "taking over the claim that holds the data");
  }
  // The volume comes last: once it has its record, the others count as written.
  const storage::Backing recorded{.cluster = site->cluster, .key = site->key, .uid = std::string(backing->uid())};
  KUBE_CO_TRYV(co_await writer_.note_backing(claim, *site));
  KUBE_CO_TRY(patched, co_await kube::merge_patch(context_.home.api(), *volumes_, volume.key(),
                                                  {.body = guarded_patch(volume, storage::backing_record(recorded)),
                                                   .phase = "recording where the data of the volume is"}));
  if (patched)
    log_.info("volume of the Go version taken over",
              {{"claim", claim.key()}, {"behind", site->key}, {"cluster", sites_.cluster_of(*site)}});
  co_return Outcome::again_after(soon);
}

asio::awaitable<kube::Result<kube::Object>> DataTakeover::take_stray(kube::Object claim, kube::Object backing,
                                                                     const StorageSite& site) {
  if (!site.reach || !storage::is_stray_backing(backing, claim, site.reach->forging.clusters)) co_return backing;
  // A retained volume keeps the data for itself, and one that is to be deleted takes the data with it.
  const std::string uid(backing.annotation(api::annotations::virtual_claim_uid));
  const bool is_recorded = std::ranges::any_of(volumes_->objects(), [&](const kube::Object& volume) {
    const auto recorded = storage::recorded_backing(volume);
    return recorded && recorded->cluster == site.cluster && recorded->key == backing.key();
  });
  if (is_recorded) co_return backing;
  KUBE_CO_TRY(
      former,
      co_await context_.home.api().list(
          kinds::volumes, "", {.selection = {.field_selector = kube::name_is("pvc-" + uid)}, .limit = 1}, max_bytes),
      "looking for the volume of a former claim");
  if (!former.items.empty()) co_return backing;
  KUBE_CO_TRY(held, co_await writer_.hold(claim, site));
  if (!held) co_return backing;
  KUBE_CO_TRY(
      taken,
      co_await sites_.api_of(site).patch(
          kinds::claims, site.key, {kube::PatchType::merge, guarded_patch(backing, storage::backing_notes(claim))}),
      "taking over the claim that holds the data");
  log_.info("data of a claim that is not here any more is taken over",
            {{"claim", claim.key()}, {"behind", site.key}, {"cluster", sites_.cluster_of(site)}});
  co_return std::move(taken);
}

}  // namespace liqo::controllers
