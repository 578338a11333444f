// What the users of a consumer hold, and how it is known for certain before a slice is granted more.
#include <set>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/peering/names.hpp"
#include "liqo/core/quota/quota_user.hpp"
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

/// So often the record is read again after another replica has written it.
constexpr int max_attempts = 8;
/// Users whose ShadowPods one request can leave out of its answer: their names are in its URL.
constexpr std::size_t max_left_out = 50;

}  // namespace

core::Resources QuotaLedger::reserved_by(const kube::ObjectKey& quota) const {
  const kube::ObjectKey key{context_.liqo_namespace, core::ledger_name(quota)};
  const std::uint64_t stored = records_->store().version(key);
  const auto desk = desks_.find(quota);
  if (desk != desks_.end() && !desk->second->version.empty() && stored <= kube::version_number(desk->second->version))
    return reserved(desk->second->record);
  if (stored == 0) return {};
  // A record is read once for each version: all slices of a consumer ask for all of its records.
  Read& read = read_[key.name];
  const std::uint64_t beside = stored_.version();
  if (read.version != stored) {
    const auto config_map = records_->find(key);
    auto record = config_map ? core::LedgerRecord::read(*config_map) : kube::Result<core::LedgerRecord>();
    read = {.version = stored, .beside = 0, .record = record ? std::move(*record) : core::LedgerRecord()};
  }
  if (read.beside != beside || beside == 0) {
    read.beside = beside;
    read.reserved = reserved(read.record);
  }
  return read.reserved;
}

std::map<std::string, core::Resources> QuotaLedger::held_by(const std::string& consumer,
                                                            std::string_view tenant_namespace) const {
  std::map<std::string, core::Resources> held;
  const std::string suffix = core::user_suffix(consumer);
  for (const std::string& user : stored_.account().users())
    if (user.ends_with(suffix)) held[user] = stored_.account().used(user);
  std::set<kube::ObjectKey> recorded;
  for (const auto& [name, quota] : quota_of_record_)
    if (quota.ns == tenant_namespace) recorded.insert(quota);
  for (const auto& [quota, desk] : desks_)
    if (quota.ns == tenant_namespace) recorded.insert(quota);
  for (const kube::ObjectKey& quota : recorded) core::add(held[quota.name], reserved_by(quota));
  return held;
}

asio::awaitable<kube::Result<void>> QuotaLedger::settle(std::string consumer, std::string tenant_namespace) {
  if (!has_synced()) co_return kube::fail(kube::Errc::timeout, "what runs is still being counted");
  for (kube::InformerHandle* cache : {&quotas_, &records_})
    if (auto refreshed = co_await (*cache)->refresh(); !refreshed) co_return std::unexpected(refreshed.error());
  std::set<kube::ObjectKey> quotas;
  for (const kube::ObjectKey& quota : quotas_->store().keys_in(tenant_namespace)) quotas.insert(quota);
  for (const auto& [name, quota] : quota_of_record_)
    if (quota.ns == tenant_namespace) quotas.insert(quota);
  std::vector<std::shared_ptr<Settling>> settling;
  for (const kube::ObjectKey& quota : quotas) {
    Desk& desk = open_desk(quota);
    settling.push_back(std::make_shared<Settling>(context_.executor));
    desk.settling.push_back(settling.back());
    desk.wake.set();
  }
  const kube::Deadline deadline = context_.clock.deadline_in(settings_.patience);
  for (const auto& one : settling) {
    if (!co_await one->answered.wait_until(context_.clock, deadline))
      co_return kube::fail(kube::Errc::timeout, "a quota could not be settled in time");
    if (!one->result) co_return kube::fail(kube::Errc::stopped, "liqod is shutting down");
    if (!*one->result) co_return *one->result;
  }
  co_return co_await see_unrecorded(std::move(consumer), std::move(quotas));
}

asio::awaitable<kube::Result<void>> QuotaLedger::see_unrecorded(std::string consumer,
                                                                std::set<kube::ObjectKey> quotas) {
  // Where a Quota and its record are gone, pods of its user may be stored that the cache has not seen yet.
  std::string labels = kube::label_is(api::labels::reflection_origin, consumer);
  std::size_t left_out = 0;
  for (const kube::ObjectKey& quota : quotas)
    if (const auto desk = desks_.find(quota);
        desk != desks_.end() && !desk->second->version.empty() && ++left_out <= max_left_out)
      labels += "," + kube::label_is_not(api::labels::creator_user, core::escape_user(quota.name));
  const auto newest = co_await newest_stored(std::move(labels));
  if (!newest) co_return kube::fail(newest.error(), "reading the ShadowPods of cluster " + consumer);
  if (!co_await catch_up([floor = *newest] { return floor; }))
    co_return kube::fail(kube::Errc::timeout, "the cache of ShadowPods is behind");
  co_return kube::Result<void>();
}

asio::awaitable<void> QuotaLedger::settle(Desk& desk) {
  const auto waiting = std::exchange(desk.settling, {});
  const kube::Result<void> result = co_await name_quota(desk);
  for (const auto& one : waiting) {
    one->result = result;
    one->answered.set();
  }
}

asio::awaitable<kube::Result<void>> QuotaLedger::name_quota(Desk& desk) {
  const std::string phase = "settling quota " + desk.quota.text();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto quota = quotas_->find(desk.quota);
    if (!desk.known || desk.version.empty()) {
      auto read = co_await read_record(desk);
      // Of a Quota that is gone, as its record is, nothing is reserved.
      if (!read && !quota && read.error().code() == kube::Errc::missing) co_return kube::Result<void>();
      if (!read) co_return kube::fail(std::move(read.error()), phase + ": record " + core::ledger_name(desk.quota));
    }
    const core::QuotaVersion now = quota ? core::version_of_quota(*quota) : core::QuotaVersion();
    // Whoever makes the record reads the Quota afterwards, so that one which is not there needs no name in it.
    if (!desk.version.empty() && desk.record.quota != now) {
      core::LedgerRecord next = desk.record;
      next.quota = now;
      auto written = co_await write_record(desk, std::move(next));
      if (!written) co_return kube::fail(std::move(written.error()), phase);
      if (!*written) continue;
    }
    if (!co_await catch_up(desk) && !co_await believe_server(desk))
      co_return kube::fail(kube::Errc::timeout, phase + ": the cache of ShadowPods is behind");
    co_return kube::Result<void>();
  }
  co_return kube::fail(kube::Errc::timeout, phase + ": other replicas were faster");
}

}  // namespace liqo::quota
