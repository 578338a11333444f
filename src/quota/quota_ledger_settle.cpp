// What the users of a consumer hold, and how it is known for certain before a slice is granted more.
#include <algorithm>
#include <set>

#include "core/common/peer_names.hpp"
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// So often the record is read again after another replica has written it.
constexpr int max_attempts = 8;
/// So often all ShadowPods are read again where records went meanwhile.
constexpr int max_lists = 3;
/// Between the beginnings of two rounds for one consumer, who may edit its slices all the time: each has the API server
/// list all Quotas and records. Use that falls is to be seen within two seconds.
constexpr kube::Duration round_pause = 1s;
/// Slices that have waited for the same round come together, but not in one turn of the loop.
constexpr kube::Duration round_gather = 20ms;

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

kube::Duration QuotaLedger::settles_in(const std::string& tenant_namespace) const {
  const auto rounds = rounds_.find(tenant_namespace);
  if (rounds == rounds_.end() || rounds->second.last->is_open) return kube::Duration::zero();
  return std::max(rounds->second.next - context_.clock.now(), kube::Duration::zero());
}

asio::awaitable<kube::Result<void>> QuotaLedger::settle(std::string tenant_namespace) {
  if (!has_synced()) co_return kube::fail(kube::Errc::timeout, "what runs is still being counted");
  if (const auto rounds = rounds_.find(tenant_namespace); rounds != rounds_.end() && rounds->second.last->is_open) {
    const std::shared_ptr<Round> other = rounds->second.last;
    co_await other->over.wait();
    co_return other->result;
  }
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(rounds_, [now](const auto& entry) { return !entry.second.last->is_open && entry.second.next <= now; });
  const auto round = std::make_shared<Round>(context_.executor);
  const Doing doing(round);
  Rounds& rounds = rounds_[tenant_namespace];
  rounds.last = round;
  const kube::TimePoint begin = std::max(rounds.next, now + round_gather);
  rounds.next = begin + round_pause;
  co_await context_.clock.sleep_until(begin);
  // Who comes from here on may know of changes that this round does not see.
  round->is_open = false;
  round->result = co_await settle_now(std::move(tenant_namespace));
  co_return round->result;
}

asio::awaitable<kube::Result<void>> QuotaLedger::settle_now(std::string tenant_namespace) {
  for (kube::InformerHandle* cache : {&quotas_, &records_})
    if (auto refreshed = co_await (*cache)->refresh(); !refreshed) co_return std::unexpected(refreshed.error());
  // Whoever makes a record after that reads the Quota afterwards, so that one without a record is not waited for.
  std::set<kube::ObjectKey> quotas;
  for (const kube::ObjectKey& quota : quotas_->store().keys_in(tenant_namespace))
    if (records_->store().contains({context_.liqo_namespace, core::ledger_name(quota)})) quotas.insert(quota);
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
  co_return co_await see_unrecorded();
}

asio::awaitable<kube::Result<void>> QuotaLedger::see_unrecorded() {
  // Where a Quota and its record are gone, pods of its user may be stored that the cache has not seen yet.
  while (!knows_unrecorded())
    if (auto listed = co_await list_unrecorded(); !listed) co_return listed;
  const std::uint64_t floor = std::max(*unrecorded_.listed, unrecorded_.removed);
  if (co_await catch_up([floor] { return floor; })) co_return kube::Result<void>();
  // After its database was restored the server may not reach that version for long.
  doubt_unrecorded();
  co_return kube::fail(kube::Errc::timeout, "the cache of ShadowPods is behind");
}

asio::awaitable<kube::Result<void>> QuotaLedger::list_unrecorded() {
  if (listing_ && listing_->is_open) {
    const std::shared_ptr<Round> other = listing_;
    co_await other->over.wait();
    co_return other->result;
  }
  const auto round = std::make_shared<Round>(context_.executor);
  const Doing doing(round);
  listing_ = round;
  round->result = kube::fail(kube::Errc::timeout, "records went while the ShadowPods were read");
  for (int attempt = 0; attempt < max_lists && !knows_unrecorded(); ++attempt) {
    const std::uint64_t doubts = unrecorded_.doubts, lists = records_->lists();
    unrecorded_.listed.reset();
    unrecorded_.removed = 0;
    // What is read from here on has the pods of whoever had a record that is gone.
    std::erase_if(unrecorded_.removing, [](const auto& entry) { return entry.second.is_gone; });
    const auto newest = co_await newest_stored("");
    if (!newest) {
      round->result = kube::fail(newest.error(), "reading the ShadowPods");
      break;
    }
    if (unrecorded_.doubts != doubts) continue;
    unrecorded_.listed = *newest;
    unrecorded_.lists = lists;
    round->result = kube::Result<void>();
  }
  co_return round->result;
}

void QuotaLedger::doubt_unrecorded() {
  unrecorded_.listed.reset();
  ++unrecorded_.doubts;
}

bool QuotaLedger::knows_unrecorded() const {
  const auto is_doubtful = [](const auto& entry) { return entry.second.is_gone && !entry.second.is_done; };
  return unrecorded_.listed && unrecorded_.lists == records_->lists() &&
         std::ranges::none_of(unrecorded_.removing, is_doubtful);
}

void QuotaLedger::see_removed(std::string_view uid) {
  const auto found = unrecorded_.removing.find(std::string(uid));
  if (found == unrecorded_.removing.end())
    doubt_unrecorded();
  else if (found->second.is_done)
    unrecorded_.removing.erase(found);
  else
    found->second.is_gone = true;
}

void QuotaLedger::see_removal_end(const std::string& uid, const kube::Result<void>& removed) {
  const auto found = unrecorded_.removing.find(uid);
  if (removed) {
    if (found == unrecorded_.removing.end()) return;
    found->second.is_done = true;
    if (found->second.is_gone) unrecorded_.removing.erase(found);
    return;
  }
  // It may be gone, and have been another by then.
  const bool is_gone = found == unrecorded_.removing.end() || found->second.is_gone;
  if (is_gone || !removed.error().is_conflict()) doubt_unrecorded();
  if (found != unrecorded_.removing.end()) unrecorded_.removing.erase(found);
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
      // Of a Quota that is gone, as its record is, nothing is reserved. Its pods are those of see_unrecorded().
      if (!read && !quota && read.error().code() == kube::Errc::missing) {
        doubt_unrecorded();
        co_return kube::Result<void>();
      }
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
