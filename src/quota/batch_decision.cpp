#include "quota/batch_decision.hpp"

#include "core/quota/quota_user.hpp"
#include "kube/async/task_group.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"
#include "quota/reservations.hpp"

namespace liqo::quota {
namespace {

using core::QuotaVerdict;
using Basis = core::AdmissionRound::Basis;

/// How often, after a conflict with another replica's write, the record is read and the batch decided again.
constexpr int max_attempts = 8;

QuotaVerdict no_quota(const kube::ObjectKey& quota, const kube::Failure& failure) {
  if (failure.is_not_found())
    return QuotaVerdict::refused("quota " + quota.text() + " has been withdrawn", core::QuotaRefusal::withdrawn);
  return QuotaVerdict::unavailable("quota " + quota.text() + " cannot be read: " + failure.text() + "; ask again");
}

QuotaVerdict unreadable(const kube::ObjectKey& quota) {
  return QuotaVerdict::unavailable("quota " + quota.text() +
                                   ": its record has a reservation that cannot be understood, and until that expires, "
                                   "in a minute or two, nobody knows what is free; ask again");
}

QuotaVerdict unwritten(const kube::ObjectKey& quota, const kube::Failure& failure) {
  return QuotaVerdict::unavailable("quota " + quota.text() + ": its record cannot be written: " + failure.text() +
                                   "; ask again");
}

QuotaVerdict outrun(const kube::ObjectKey& quota) {
  return QuotaVerdict::unavailable("quota " + quota.text() + ": other replicas were faster " +
                                   std::to_string(max_attempts) + " times; ask again");
}

}  // namespace

BatchDecision::BatchDecision(DeskContext& context, QuotaRecord& record, core::LargeClaims& large,
                             const DeskBatch& batch)
    : context_(context), record_(record), large_(large), batch_(batch), basis_(context.quotas->find(record.quota())) {}

asio::awaitable<void> BatchDecision::run() {
  KnownRecord& known = record_.known();
  record_.forget_unanswered();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (const auto trouble = co_await read()) co_return answer_all(batch_, *trouble);
    if (basis_.is_outdated_by(known.record())) continue;
    // Nothing suspends from here to the write, so the caches and the record are of one moment.
    core::LedgerRecord next = known.record();
    drop_stored(context_.stored.account(), next);
    next.quota = core::version_of_quota(basis_.quota());
    if (!next.unreadable.empty()) co_return answer_all(batch_, unreadable(record_.quota()));
    const core::QuotaStanding standing = standing_by(next);
    core::AdmissionRound round(standing, std::move(next), known.bytes());
    const Said said = ask(round);
    const DecisionBasis::Step step = basis_.after_round(said.needs, known.is_floor_old());
    if (step == DecisionBasis::Step::read) known.distrust();
    if (step == DecisionBasis::Step::read || step == DecisionBasis::Step::read_again) continue;
    if (step == DecisionBasis::Step::write) {
      const auto stands = co_await write(std::move(round).record(), said);
      if (!stands) co_return answer_all(batch_, unwritten(record_.quota(), stands.error()));
      if (!*stands) continue;
    }
    clear_doubts(said);
    for (const auto& [asked, decision] : said.to) asked->answer(decision.verdict);
    co_return;
  }
  answer_all(batch_,
             record_.unanswered() ? unwritten(record_.quota(), *record_.unanswered()) : outrun(record_.quota()));
}

asio::awaitable<std::optional<QuotaVerdict>> BatchDecision::read() {
  const kube::ObjectKey& quota = record_.quota();
  if (basis_.wants_quota()) {
    auto live = co_await context_.replica_api.get(api::kinds::quotas, quota);
    if (!live) co_return no_quota(quota, live.error());
    basis_.observe_quota(std::move(*live));
  }
  if (basis_.wants_record(record_.known())) {
    basis_.note_record_read();
    // A caller that is always refused leaves no record, and would make the API server list all ShadowPods each time.
    if (auto read = co_await record_.read(!basis_.wants_floor()); !read)
      co_return QuotaVerdict::unavailable("quota " + quota.text() +
                                          ": its record cannot be read: " + read.error().text() + "; ask again");
  }
  if (!co_await record_.catch_up() && !co_await record_.believe_server())
    co_return QuotaVerdict::unavailable("quota " + quota.text() + ": the cache of ShadowPods is behind; ask again");
  co_return std::nullopt;
}

core::QuotaStanding BatchDecision::standing_by(const core::LedgerRecord& next) const {
  const api::Quota view(basis_.quota());
  const core::QuotaAccount& account = context_.stored.account();
  core::QuotaStanding standing = core::read_standing(view, context_.settings.counting);
  standing.state.used = account.used(core::escape_user(view.user()));
  core::add(standing.state.used, reserved(account, next));
  standing.may_be_large = large_.may(context_.clock.now());
  return standing;
}

BatchDecision::Said BatchDecision::ask(core::AdmissionRound& round) {
  KnownRecord& known = record_.known();
  const bool is_live = basis_.is_live() && known.is_stored();
  Said said;
  for (const auto& asked : batch_) {
    if (asked->verdict) continue;
    const bool is_stored = stored_version(context_.stored.account(), asked->key, asked->reservation) != 0;
    auto decision = round.decide(*asked, {.is_stored = is_stored, .is_doubtful = known.is_doubtful(asked->key)});
    said.needs.newest = said.needs.newest || decision.basis == Basis::look;
    said.needs.write = said.needs.write || decision.basis == Basis::write;
    if (decision.basis == Basis::write && !is_live) known.mark_doubtful(asked->key);
    said.to.emplace_back(asked.get(), std::move(decision));
  }
  return said;
}

asio::awaitable<kube::Result<bool>> BatchDecision::write(core::LedgerRecord next, const Said& said) {
  const bool is_first = !record_.known().is_stored();
  Written written;
  if (basis_.reads_beside_write(record_.known()))
    written = co_await write_and_read(std::move(next));
  else
    written.record = co_await record_.write(std::move(next));
  if (is_first && written.record && *written.record) co_await read_into(written);
  if (!written.record) co_return std::unexpected(written.record.error());
  if (*written.record) note_reserved(said);
  std::optional<kube::Object> live;
  if (written.quota && *written.quota) live = std::move(**written.quota);
  const DecisionBasis::Standing standing =
      basis_.after_write({.was_first = is_first, .is_stored = *written.record, .live = std::move(live)});
  if (standing.by_quota) clear_doubts(said);
  co_return standing.is_final;
}

void BatchDecision::note_reserved(const Said& said) {
  const kube::TimePoint now = context_.clock.now();
  // The record was the newest and had no reservation for these pods, so no other caller has asked for them before.
  for (const auto& [asked, decision] : said.to) {
    if (decision.basis == Basis::write) context_.proofs.watch_for(record_.quota(), *asked, decision.is_large, now);
    if (decision.is_large) large_.grant(now + context_.settings.reservation_life());
  }
}

void BatchDecision::clear_doubts(const Said& said) {
  for (const auto& [asked, decision] : said.to)
    if (decision.verdict.ruling == QuotaVerdict::Ruling::admitted) record_.known().clear_doubt(asked->key);
}

asio::awaitable<BatchDecision::Written> BatchDecision::write_and_read(core::LedgerRecord next) {
  Written written;
  kube::async::TaskGroup both(context_.executor);
  both.spawn(read_into(written));
  both.spawn(write_into(written, std::move(next)));
  co_await both.join();
  co_return written;
}

asio::awaitable<void> BatchDecision::write_into(Written& written, core::LedgerRecord next) {
  written.record = co_await record_.write(std::move(next));
}

asio::awaitable<void> BatchDecision::read_into(Written& written) {
  written.quota = co_await context_.replica_api.get(api::kinds::quotas, record_.quota());
}

}  // namespace liqo::quota
