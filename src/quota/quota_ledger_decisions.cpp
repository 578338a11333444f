// The ledger's answers to a batch of admissions.
#include <utility>

#include "core/quota/quota_user.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

using core::QuotaVerdict;
using Basis = core::AdmissionRound::Basis;

/// After a conflict with another replica's write the record is read and decided upon again, at most this many times.
constexpr int max_attempts = 8;

QuotaVerdict no_quota(const kube::ObjectKey& quota, const kube::Failure& failure) {
  if (failure.is_not_found())
    return QuotaVerdict::refused("quota " + quota.text() + " has been withdrawn", core::QuotaRefusal::withdrawn);
  return QuotaVerdict::unavailable("quota " + quota.text() + " cannot be read: " + failure.text() + "; ask again");
}

QuotaVerdict unwritten(const kube::ObjectKey& quota, const kube::Failure& failure) {
  return QuotaVerdict::unavailable("quota " + quota.text() + ": its record cannot be written: " + failure.text() +
                                   "; ask again");
}

}  // namespace

core::Resources QuotaLedger::reserved(const core::LedgerRecord& record) const {
  core::Resources total;
  for (const auto& [key, reservation] : record.reservations)
    if (stored_version(key, reservation) == 0) core::add(total, reservation.demand);
  return total;
}

asio::awaitable<void> QuotaLedger::decide(Desk& desk) {
  Look look{.quota = quotas_->find(desk.quota)};
  desk.unanswered.reset();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (const auto trouble = co_await look_at(desk, look)) co_return tell_all(desk.batch, *trouble);
    if (desk.record.may_be_newer_than(core::version_of_quota(*look.quota)) && look.named != desk.record.quota) {
      look.named = desk.record.quota;
      look.is_live = false;
      look.wants_live = true;
      continue;
    }
    // Nothing suspends from here to the write, so the caches and the record are those of one moment.
    core::LedgerRecord record = desk.record;
    drop_stored(record);
    record.quota = core::version_of_quota(*look.quota);
    if (!record.unreadable.empty())
      co_return tell_all(
          desk.batch,
          QuotaVerdict::unavailable("quota " + desk.quota.text() +
                                    ": its record has a reservation that cannot be understood, and until that expires, "
                                    "in a minute or two, nobody knows what is free; ask again"));
    const core::QuotaStanding standing = standing_of(desk, *look.quota, record);
    core::AdmissionRound round(standing, std::move(record), desk.bytes);
    const Said said = ask_round(desk, round, look.is_live && !desk.version.empty());
    // A write that succeeds proves that the record was the newest. A decision without a write needs a read: another
    // replica may have admitted this very pod, or freed what is missing.
    if (!said.needs_write && said.needs_look && !(look.has_read && look.is_live)) {
      if (!look.has_read) desk.known = false;
      look.wants_live = true;
      continue;
    }
    if (said.needs_write && desk.is_floor_old) {
      look.wants_floor = true;
      continue;
    }
    if (said.needs_write) {
      const auto stands = co_await write_round(desk, look, std::move(round).record(), said);
      if (!stands) co_return tell_all(desk.batch, unwritten(desk.quota, stands.error()));
      if (!*stands) continue;
    }
    for (const auto& [asked, decision] : said.to) {
      if (decision.verdict.ruling == QuotaVerdict::Ruling::admitted) desk.doubtful.erase(asked->key);
      tell(*asked, decision.verdict);
    }
    co_return;
  }
  tell_all(desk.batch, desk.unanswered
                           ? unwritten(desk.quota, *desk.unanswered)
                           : QuotaVerdict::unavailable("quota " + desk.quota.text() + ": other replicas were faster " +
                                                       std::to_string(max_attempts) + " times; ask again"));
}

asio::awaitable<std::optional<QuotaVerdict>> QuotaLedger::look_at(Desk& desk, Look& look) {
  if (look.wants_live && !look.is_live) {
    auto read = co_await replica_api_.get(api::kinds::quotas, desk.quota);
    if (!read) co_return no_quota(desk.quota, read.error());
    look.quota = std::move(*read);
    look.is_live = true;
  }
  // Another replica may have created a record since this one found none.
  if (!desk.known || desk.version.empty()) {
    look.has_read = true;
    // Who is refused again and again leaves no record, and would have the API server list all ShadowPods each time.
    if (auto read = co_await read_record(desk, !look.wants_floor); !read)
      co_return QuotaVerdict::unavailable("quota " + desk.quota.text() +
                                          ": its record cannot be read: " + read.error().text() + "; ask again");
  }
  if (!co_await catch_up(desk) && !co_await believe_server(desk))
    co_return QuotaVerdict::unavailable("quota " + desk.quota.text() +
                                        ": the cache of ShadowPods is behind; ask again");
  co_return std::nullopt;
}

core::QuotaStanding QuotaLedger::standing_of(const Desk& desk, const kube::Object& quota,
                                             const core::LedgerRecord& record) const {
  const api::Quota view(quota);
  core::QuotaStanding standing = core::read_standing(view, settings_.counting);
  standing.state.used = stored_.account().used(core::escape_user(view.user()));
  core::add(standing.state.used, reserved(record));
  standing.may_be_large = desk.large.may(context_.clock.now());
  return standing;
}

QuotaLedger::Said QuotaLedger::ask_round(Desk& desk, core::AdmissionRound& round, bool is_live) const {
  Said said;
  for (const auto& asked : desk.batch) {
    if (asked->verdict) continue;
    auto decision = round.decide(*asked, {.is_stored = stored_version(asked->key, asked->reservation) != 0,
                                          .is_doubtful = desk.doubtful.contains(asked->key)});
    said.needs_look = said.needs_look || decision.basis == Basis::look;
    said.needs_write = said.needs_write || decision.basis == Basis::write;
    if (decision.basis == Basis::write && !is_live) desk.doubtful.insert(asked->key);
    said.to.emplace_back(asked.get(), std::move(decision));
  }
  return said;
}

asio::awaitable<kube::Result<bool>> QuotaLedger::write_round(Desk& desk, Look& look, core::LedgerRecord record,
                                                             const Said& said) {
  Written written;
  // A record that is not there cannot name a Quota: whoever makes one reads the Quota after it.
  const bool is_first = desk.version.empty();
  if (look.is_live || is_first)
    written.record = co_await write_record(desk, std::move(record));
  else
    written = co_await write_and_read(desk, std::move(record));
  if (is_first) look.is_live = false;
  if (is_first && written.record && *written.record) co_await read_into(written, desk.quota);
  if (!written.record) co_return std::unexpected(written.record.error());
  if (*written.record) {
    // The record was the newest and had no reservation for these pods, so no other caller has asked for them before.
    for (const auto& [asked, decision] : said.to) {
      if (decision.basis == Basis::write) watch_for(desk, *asked, decision.is_large);
      if (decision.is_large) desk.large.grant(context_.clock.now() + settings_.request_timeout + expiry_slack);
    }
  }
  auto& live = written.quota;
  const kube::Object& quota = *look.quota;
  const bool stands =
      look.is_live || (live && *live && (*live)->uid() == quota.uid() && (*live)->spec() == quota.spec());
  if (live && *live) {
    look.quota = std::move(**live);
    look.is_live = true;
  }
  look.wants_live = true;  // where the read beside the write failed, the next attempt reads the Quota
  look.has_read = *written.record;
  if (stands)
    for (const auto& [asked, decision] : said.to)
      if (decision.verdict.ruling == QuotaVerdict::Ruling::admitted) desk.doubtful.erase(asked->key);
  co_return stands && *written.record;
}

asio::awaitable<QuotaLedger::Written> QuotaLedger::write_and_read(Desk& desk, core::LedgerRecord next) {
  Written written;
  kube::async::TaskGroup both(context_.executor);
  both.spawn(read_into(written, desk.quota));
  both.spawn(write_into(written, desk, std::move(next)));
  co_await both.join();
  co_return written;
}

asio::awaitable<void> QuotaLedger::write_into(Written& written, Desk& desk, core::LedgerRecord next) {
  written.record = co_await write_record(desk, std::move(next));
}

asio::awaitable<void> QuotaLedger::read_into(Written& written, kube::ObjectKey quota) {
  written.quota = co_await replica_api_.get(api::kinds::quotas, quota);
}

}  // namespace liqo::quota
