// How data is taken over: of volumes that the Go version has made, which records nothing of where it is, and of claims
// that are not at home any more.
#include <algorithm>

#include "controllers/common/guarded_write.hpp"
#include "controllers/storage/storage_parts.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

}  // namespace

asio::awaitable<Outcome> StorageProvisioner::adopt(kube::Object claim, kube::Object volume, std::string cluster) {
  auto site = site_in(claim, cluster);
  if (!site) co_return Outcome::again_after(later);
  auto backing = co_await api_of(*site).get(kinds::claims, site->key);
  if (!backing && !is_gone(backing.error(), *site, claim.ns()))
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
    auto patched = co_await api_of(*site).patch(
        kinds::claims, site->key, {kube::PatchType::merge, guarded_patch(*backing, storage::backing_notes(claim))});
    if (!patched) co_return Outcome::retry(std::move(patched.error()).in("taking over the claim that holds the data"));
  }
  // The volume last: with its record the others count as written.
  const storage::Backing recorded{.cluster = site->cluster, .key = site->key, .uid = std::string(backing->uid())};
  auto noted = co_await note_backing(claim, *site);
  if (!noted) co_return Outcome::retry(std::move(noted.error()));
  auto patched = co_await kube::merge_patch(context_.home.api(), *volumes_, volume.key(),
                                            {.body = guarded_patch(volume, storage::backing_record(recorded)),
                                             .phase = "recording where the data of the volume is"});
  if (!patched) co_return Outcome::retry(std::move(patched.error()));
  if (*patched)
    log_.info("volume of the Go version taken over",
              {{"claim", claim.key()}, {"behind", site->key}, {"cluster", cluster_of(*site)}});
  co_return Outcome::again_after(soon);
}

asio::awaitable<kube::Result<kube::Object>> StorageProvisioner::take_stray(kube::Object claim, kube::Object backing,
                                                                           const Site& site) {
  if (!site.reach || !storage::is_stray_backing(backing, claim, site.reach->forging.clusters)) co_return backing;
  // A retained volume keeps the data for itself, and one that is to be deleted takes it with it.
  const std::string uid(backing.annotation(api::annotations::virtual_claim_uid));
  const bool is_recorded = std::ranges::any_of(volumes_->objects(), [&](const kube::Object& volume) {
    const auto recorded = storage::recorded_backing(volume);
    return recorded && recorded->cluster == site.cluster && recorded->key == backing.key();
  });
  if (is_recorded) co_return backing;
  auto former = co_await context_.home.api().list(
      kinds::volumes, "", {.selection = {.field_selector = kube::name_is("pvc-" + uid)}, .limit = 1}, max_bytes);
  if (!former) co_return kube::fail(std::move(former.error()), "looking for the volume of a former claim");
  if (!former->items.empty()) co_return backing;
  auto held = co_await hold(claim, site);
  if (!held) co_return std::unexpected(std::move(held.error()));
  if (!*held) co_return backing;
  auto taken = co_await api_of(site).patch(
      kinds::claims, site.key, {kube::PatchType::merge, guarded_patch(backing, storage::backing_notes(claim))});
  if (!taken) co_return kube::fail(std::move(taken.error()), "taking over the claim that holds the data");
  log_.info("data of a claim that is not here any more is taken over",
            {{"claim", claim.key()}, {"behind", site.key}, {"cluster", cluster_of(site)}});
  co_return std::move(*taken);
}

asio::awaitable<kube::Result<kube::Object>> StorageProvisioner::note_backing(kube::Object claim, const Site& site) {
  const json::value cluster = site.cluster.empty() ? json::value() : json::value(json::string(site.cluster));
  json::object notes{{api::annotations::backing_claim, json::string(site.key.text())},
                     {api::annotations::backing_cluster, cluster}};
  auto noted = co_await context_.home.api().patch(
      kinds::claims, claim.key(),
      {kube::PatchType::merge,
       guarded_patch(claim, json::object{{"metadata", json::object{{"annotations", std::move(notes)}}}})});
  if (noted) claims_->observe(*noted);
  co_return noted;
}

}  // namespace liqo::controllers
