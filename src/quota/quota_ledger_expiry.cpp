// The end of reservations that nobody has stored, and of records that nobody needs.
#include <algorithm>
#include <vector>

#include "liqo/api/kinds.hpp"
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// Bounds of one look: admissions of this Quota wait meanwhile.
constexpr std::size_t max_expiry_reads = 16;
constexpr kube::Duration max_expiry_time = 250ms;

bool is_stored(const kube::Object& shadow_pod, std::string_view key, const core::Reservation& reservation) {
  return shadow_pod.uid() == core::uid_of(key) && shadow_pod.version_number() > reservation.from;
}

}  // namespace

asio::awaitable<bool> QuotaLedger::expire(Desk& desk) {
  // Another replica may have written to the record, so it is read before anything in it expires.
  const auto config_map = records_->find({context_.liqo_namespace, core::ledger_name(desk.quota)});
  if (!config_map) co_return true;
  if (const auto record = core::LedgerRecord::read(*config_map); record && record->empty()) co_return true;
  if (auto read = co_await read_record(desk); !read) co_return true;
  const kube::TimePoint now = context_.clock.now();
  const auto is_due = [&](const std::string& key) {
    const auto since = desk.since.find(key);
    return since != desk.since.end() && now - since->second >= settings_.request_timeout + expiry_slack;
  };
  std::vector<std::pair<std::string, core::Reservation>> due;
  for (const auto& [key, reservation] : desk.record.reservations)
    if (is_due(key) && stored_version(key, reservation) == 0) due.emplace_back(key, reservation);
  // Reservations whose ShadowPods could not be read last time come last, so that they hold up no others.
  std::ranges::partition(due, [&](const auto& entry) { return !desk.unclear.contains(entry.first); });
  std::set<std::string> gone, unclear;
  for (const auto& [uid, entry] : desk.record.unreadable)
    if (is_due(uid) && stored_.account().seen_version(uid) == 0) unclear.insert(uid);
  std::size_t reads = 0;
  bool complete = true;
  for (const auto& [key, reservation] : due) {
    if (reads == max_expiry_reads || context_.clock.now() - now > max_expiry_time) {
      complete = false;
      break;
    }
    ++reads;
    auto live = co_await replica_api_.get(api::kinds::shadow_pods, reservation.pod);
    if (live ? !is_stored(*live, key, reservation) : live.error().is_not_found())
      gone.insert(key);
    else if (!live)
      unclear.insert(key);
  }
  if (!unclear.empty()) gone.merge(co_await settle(desk, std::move(unclear)));
  if (!desk.known || !co_await catch_up(desk)) co_return true;
  core::LedgerRecord next = desk.record;
  // Stored reservations are dropped before expired ones, because the cache may by now have an unclear ShadowPod.
  const std::size_t stored = drop_stored(next);
  const auto is_gone = [&gone](const auto& entry) { return gone.contains(entry.first); };
  const std::size_t expired = std::erase_if(next.reservations, is_gone) + std::erase_if(next.unreadable, is_gone);
  if (expired > 0)
    log_.info("reservations of pods that were never stored have expired", {{"quota", desk.quota}, {"count", expired}});
  if (stored + expired > 0) (void)co_await write_record(desk, std::move(next));
  co_return complete;
}

asio::awaitable<std::set<std::string>> QuotaLedger::settle(Desk& desk, std::set<std::string> unclear) {
  std::set<std::string> gone;
  const auto page = co_await replica_api_.list(api::kinds::shadow_pods, "", {.limit = 1, .metadata_only = true});
  if (!page) co_return gone;
  const std::uint64_t version = kube::version_number(page->resource_version);
  for (const std::string& uid : unclear) {
    // A restored database has lower versions, so the lowest one seen is enough.
    std::uint64_t& enough = desk.unclear.try_emplace(uid, version).first->second;
    enough = std::min(enough, version);
    if (stored_.version() >= enough) gone.insert(uid);
  }
  co_return gone;
}

asio::awaitable<void> QuotaLedger::sweep() {
  co_await quotas_->wait_synced();
  co_await records_->wait_synced();
  // What other leaders have removed was not followed here.
  doubt_unrecorded();
  unrecorded_.removing.clear();
  while (true) {
    bool clean = true;
    for (const kube::ObjectKey& key : records_->store().keys()) {
      const auto config_map = records_->find(key);
      if (!config_map) continue;
      const kube::ObjectKey quota = quota_of(*config_map);
      if (key.name != core::ledger_name(quota) || quotas_->store().contains(quota)) continue;
      // A record that is not empty may hold the reservation of a ShadowPod on its way into storage, which counts if the
      // slice comes back. The desk lets it expire, and that write wakes this loop.
      const auto record = core::LedgerRecord::read(*config_map);
      if (record && !record->empty()) continue;
      // The watch of Quotas may be behind that of the records, and a slice of this name may come back meanwhile. An
      // admission then writes to the record, and the delete below fails because the version is another.
      const auto live = co_await replica_api_.get(api::kinds::quotas, quota);
      if (live || !live.error().is_not_found()) {
        clean &= live.has_value();
        continue;
      }
      const std::string uid(config_map->uid());
      // From now on nobody else says how new the caches have to be for the pods of this user.
      if (record) {
        unrecorded_.removing[uid] = {};
        unrecorded_.removed = std::max(unrecorded_.removed, record->floor);
      }
      auto removed =
          co_await replica_api_.remove(kube::resources::config_maps, key,
                                       {.uid = uid, .resource_version = std::string(config_map->resource_version())});
      see_removal_end(uid, removed);
      clean &= removed || removed.error().is_not_found();
    }
    if (clean) {
      co_await quota_gone_.wait_and_reset();
    } else {
      co_await context_.clock.sleep(10s);
    }
  }
}

}  // namespace liqo::quota
