// The desk of one Quota in the quota ledger: where admissions wait, are decided together, and expire.
// Tested by test/unit/quota/quota_ledger_test.cpp and quota_settle_test.cpp.
#pragma once

#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/quota/claimant.hpp"
#include "quota/desk_context.hpp"
#include "quota/desk_question.hpp"
#include "quota/quota_record.hpp"

namespace liqo::quota {

/// A caller that waits until the record names the present Quota, and the caches are as new as the record requires.
struct SettleWaiter {
  explicit SettleWaiter(const asio::any_io_executor& executor) : answered(executor) {}
  std::optional<kube::Result<void>> result;  ///< none if the ledger has ended before
  kube::async::Event answered;
};

/// Decides the admissions of one Quota, one batch after the other, and keeps its record. One thread.
///
/// Lifetime: serve() returns once neither the Quota nor its record exists any more, and then the ledger removes the
/// desk. Waiting callers hold the question, and not the desk.
class QuotaDesk {
 public:
  /// `context` outlives this.
  QuotaDesk(DeskContext& context, kube::ObjectKey quota);

  /// Decides admissions, expires reservations and settles.
  asio::awaitable<void> serve();

  /// The question of a ShadowPod, or a verdict that needs no decision. `before`: see QuotaLedger::decide_on().
  std::expected<std::shared_ptr<DeskQuestion>, core::QuotaVerdict> question_of(const kube::Object& shadow_pod,
                                                                               const kube::Object* before,
                                                                               core::Claimant claimant) const;
  /// Queues the question, and waits for the verdict until the caller's time is over. The desk may be removed meanwhile.
  asio::awaitable<core::QuotaVerdict> ask(std::shared_ptr<DeskQuestion> asked);
  /// Answers the waiter once the record names the present Quota.
  void settle(std::shared_ptr<SettleWaiter> waiting);
  /// Answers all callers that still wait. serve() has ended.
  void close(const core::QuotaVerdict& stopping);

  const KnownRecord& known() const { return record_.known(); }
  /// Takes over a record that another replica has written, from the cache of records.
  void take_over() { record_.take_over(); }
  /// Counts a refusal in the metric of the Quota's consumer.
  void count_refusal(core::QuotaRefusal reason);
  /// Notes that a reservation beyond the share of unproven callers was stored.
  void confirm_large() { large_.confirm(); }

 private:
  bool is_over() const;
  /// Takes from the queue the questions whose callers still wait, as many as fit into one write.
  void take_batch();
  /// Drops reservations whose ShadowPods were not stored in time. False: there are more to look at.
  asio::awaitable<bool> expire();
  /// Finds which of the unclear reservations are certainly void: they are too old to be stored any more, and the cache
  /// is as new as the server was when they became too old.
  asio::awaitable<std::set<std::string>> find_gone(std::set<std::string> unclear);
  /// Answers the waiters of settle().
  asio::awaitable<void> answer_settling();
  /// Writes into the record by which Quota all replicas have to decide from now on.
  asio::awaitable<kube::Result<void>> name_quota();

  DeskContext& context_;
  QuotaRecord record_;
  core::LargeClaims large_;
  std::deque<std::shared_ptr<DeskQuestion>> queue_;
  std::vector<std::shared_ptr<SettleWaiter>> settling_;
  DeskBatch batch_;  ///< the questions that are being decided
  std::map<core::QuotaRefusal, kube::Counter> refusals_;
  kube::async::Event wake_;
};

}  // namespace liqo::quota
