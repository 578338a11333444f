// Decides a batch of admissions for one Quota.
// Tested by test/unit/quota/quota_ledger_test.cpp and quota_settle_test.cpp.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/quota/admission_round.hpp"
#include "quota/decision_basis.hpp"
#include "quota/desk_question.hpp"
#include "quota/quota_record.hpp"

namespace liqo::quota {

/// One decision: core::AdmissionRound decides who is admitted, DecisionBasis finds out what has to be read and written
/// for that, and this class does so. The constructor's arguments outlive run(). One thread.
class BatchDecision {
 public:
  BatchDecision(DeskContext& context, QuotaRecord& record, core::LargeClaims& large, const DeskBatch& batch);

  /// Answers every admission of the batch. Admitted ones have been recorded by then.
  asio::awaitable<void> run();

 private:
  /// The verdicts of a round, and what they need before they are passed on.
  struct Said {
    std::vector<std::pair<DeskQuestion*, core::AdmissionRound::Decision>> to;
    DecisionBasis::Needs needs;
  };
  /// The results of writing the record, and of reading the Quota at the same time or afterwards.
  struct Written {
    kube::Result<bool> record = false;                ///< false: another replica was faster
    std::optional<kube::Result<kube::Object>> quota;  ///< nothing if it was not read
  };
  /// Brings the Quota and the record up to date, and waits for the caches. Returns a verdict for all if that fails.
  asio::awaitable<std::optional<core::QuotaVerdict>> read();
  core::QuotaStanding standing_by(const core::LedgerRecord& next) const;
  Said ask(core::AdmissionRound& round);
  /// Writes the reservations of a round. True: the Quota by which it was decided still holds; false: decide again.
  asio::awaitable<kube::Result<bool>> write(core::LedgerRecord next, const Said& said);
  /// Writes the record, and reads the Quota at the same time.
  asio::awaitable<Written> write_and_read(core::LedgerRecord next);
  asio::awaitable<void> write_into(Written& written, core::LedgerRecord next);
  asio::awaitable<void> read_into(Written& written);
  /// Notes the new reservations of a record that was written.
  void note_reserved(const Said& said);
  /// Clears the doubts about admitted reservations: they were decided by the present Quota.
  void clear_doubts(const Said& said);

  DeskContext& context_;
  QuotaRecord& record_;
  core::LargeClaims& large_;
  const DeskBatch& batch_;
  DecisionBasis basis_;
};

}  // namespace liqo::quota
