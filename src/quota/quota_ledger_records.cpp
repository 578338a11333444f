// The reservation record of a Quota: reading and writing it, and comparing it with what is counted.
#include <algorithm>

#include "core/quota/quota_user.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// The longest wait of a decision for the cache of ShadowPods to reach the record's floor.
constexpr kube::Duration max_catch_up = 3s;
constexpr kube::Duration look_interval = 100ms;

}  // namespace

void QuotaLedger::adopt(Desk& desk, core::LedgerRecord record, std::string version, std::size_t bytes) {
  const kube::TimePoint now = context_.clock.now();
  const auto is_gone = [&record](const auto& entry) {
    return !record.reservations.contains(entry.first) && !record.unreadable.contains(entry.first);
  };
  std::erase_if(desk.since, is_gone);
  std::erase_if(desk.unclear, is_gone);
  std::erase_if(desk.doubtful, [&](const std::string& uid) { return !record.reservations.contains(uid); });
  std::size_t unproven = 0;
  for (const auto& [uid, reservation] : record.reservations) {
    desk.since.emplace(uid, now);
    if (reservation.unproven) ++unproven;
  }
  for (const auto& [uid, entry] : record.unreadable) desk.since.emplace(uid, now);
  unproven_.add(static_cast<double>(unproven) - static_cast<double>(desk.unproven));
  desk.unproven = unproven;
  desk.record = std::move(record);
  if (!version.empty()) desk.listed_floor.reset();
  desk.is_floor_old = false;
  desk.version = std::move(version);
  desk.bytes = bytes;
  desk.known = true;
}

asio::awaitable<kube::Result<void>> QuotaLedger::read_record(Desk& desk, bool may_be_old) {
  auto config_map =
      co_await replica_api_.get(kube::resources::config_maps, {context_.liqo_namespace, core::ledger_name(desk.quota)});
  if (!config_map) {
    if (!config_map.error().is_not_found()) co_return std::unexpected(std::move(config_map.error()));
    const bool is_old = may_be_old && desk.listed_floor;
    if (!is_old) {
      auto floor = co_await stored_floor(desk);
      if (!floor) co_return std::unexpected(std::move(floor.error()));
      desk.listed_floor = *floor;
    }
    adopt(desk, {.floor = *desk.listed_floor, .reservations = {}, .unreadable = {}}, "", 0);
    desk.is_floor_old = is_old;
    co_return kube::Result<void>();
  }
  auto record = core::LedgerRecord::read(*config_map);
  if (!record) co_return std::unexpected(std::move(record.error()));
  adopt(desk, std::move(*record), std::string(config_map->resource_version()), record_bytes(*config_map));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::uint64_t>> QuotaLedger::stored_floor(const Desk& desk) {
  const auto quota = quotas_->find(desk.quota);
  if (!quota) co_return kube::fail(kube::Errc::missing, "the quota is not in the cache");
  const std::string user = core::escape_user(api::Quota(*quota).user());
  co_return co_await newest_stored(kube::label_is(api::labels::creator_user, user));
}

asio::awaitable<kube::Result<std::uint64_t>> QuotaLedger::newest_stored(std::string label_selector) {
  std::uint64_t newest = 0;
  const auto listed =
      co_await kube::list_all(replica_api_, {api::kinds::shadow_pods, ""},
                              {.selection = {.label_selector = std::move(label_selector)}, .metadata_only = true},
                              [&newest](const kube::Object& shadow) {
                                newest = std::max(newest, shadow.version_number());
                                return true;
                              });
  if (!listed) co_return std::unexpected(listed.error());
  co_return newest;
}

asio::awaitable<bool> QuotaLedger::believe_server(Desk& desk) {
  if (auto read = co_await read_record(desk); !read) co_return false;
  if (desk.record.floor > stored_.version()) {
    auto page = co_await replica_api_.list(api::kinds::shadow_pods, "", {.limit = 1, .metadata_only = true});
    if (!page || desk.record.floor <= kube::version_number(page->resource_version)) co_return false;
    auto floor = co_await stored_floor(desk);
    if (!floor) co_return false;
    log_.warn("the record asks for a version that the cluster has not reached: its database was restored",
              {{"quota", desk.quota}, {"floor", desk.record.floor}});
    desk.record.floor = *floor;
  }
  co_return co_await catch_up(desk);
}

asio::awaitable<kube::Result<bool>> QuotaLedger::write_record(Desk& desk, core::LedgerRecord next) {
  kube::Object config_map = core::forge_ledger(context_.liqo_namespace, desk.quota, next);
  const std::size_t bytes = record_bytes(config_map);
  const bool fresh = desk.version.empty();
  if (!fresh) config_map.mutable_metadata()["resourceVersion"] = desk.version;
  // Until the answer is here, this process does not know what is stored.
  desk.known = false;
  auto written = fresh ? co_await replica_api_.create(kube::resources::config_maps, config_map)
                       : co_await replica_api_.replace(kube::resources::config_maps, config_map);
  commits_.add();
  desk.unanswered.reset();
  if (written) {
    adopt(desk, std::move(next), std::string(written->resource_version()), bytes);
    co_return true;
  }
  kube::Failure failure = std::move(written.error());
  // Another replica wrote, or this write was stored and its answer was lost: the caller reads and decides again, and
  // finds reservations that are stored already by their UIDs.
  const bool unclear = failure.http_code() == 0 || failure.http_code() >= 500;
  if (!failure.is_conflict() && !failure.is_already_exists() && !failure.is_not_found() && !unclear)
    co_return std::unexpected(std::move(failure));
  if (unclear) {
    desk.unanswered = std::move(failure);
  } else {
    conflicts_.add();
  }
  co_return false;
}

std::size_t QuotaLedger::drop_stored(core::LedgerRecord& record) const {
  const auto note = [&record](std::uint64_t seen) {
    if (seen != 0) record.floor = std::max(record.floor, seen);
    return seen != 0;
  };
  const auto is_stored = [&](const auto& entry) { return note(stored_version(entry.first, entry.second)); };
  const auto is_known = [&](const auto& entry) { return note(stored_.account().seen_version(entry.first)); };
  return std::erase_if(record.reservations, is_stored) + std::erase_if(record.unreadable, is_known);
}

std::uint64_t QuotaLedger::stored_version(const std::string& key, const core::Reservation& reservation) const {
  const std::uint64_t seen = stored_.account().seen_version(std::string(core::uid_of(key)));
  return seen > reservation.from ? seen : 0;
}

asio::awaitable<bool> QuotaLedger::catch_up(const Desk& desk) {
  co_return co_await catch_up([&desk] { return desk.record.floor; });
}

asio::awaitable<bool> QuotaLedger::catch_up(std::function<std::uint64_t()> floor) {
  const kube::Deadline deadline = context_.clock.deadline_in(max_catch_up);
  // A list that brings nothing new does not wake progress() of StoredPods, but may be what is waited for.
  const auto is_there = [&] { return stored_.version() >= floor() && stored_.is_complete(); };
  while (!is_there() && context_.clock.now() < deadline.at)
    co_await stored_.progress({std::min(deadline.at, context_.clock.now() + look_interval)});
  co_return is_there();
}

}  // namespace liqo::quota
