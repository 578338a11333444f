// The answers of a Quota's desk to a batch of admissions.
// Tested by test/unit/quota/quota_ledger_test.cpp and quota_settle_test.cpp.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/quota/admission_round.hpp"
#include "quota/desk_look.hpp"
#include "quota/desk_question.hpp"
#include "quota/quota_record.hpp"

namespace liqo::quota {

/// One decision: core::AdmissionRound says who is admitted, DeskLook what has to be read and written for that, and this
/// does so. What the constructor gets outlives run(). One thread.
class BatchDecision {
 public:
  BatchDecision(DeskContext& context, QuotaRecord& record, core::LargeClaims& large, const DeskBatch& batch);

  /// Answers everyone of the batch. What is admitted has been recorded by then.
  asio::awaitable<void> run();

 private:
  /// What a round has said to each, and what that needs before it is told.
  struct Said {
    std::vector<std::pair<DeskQuestion*, core::AdmissionRound::Decision>> to;
    DeskLook::Needs needs;
  };
  /// What the server said to a record, and to a read of the Quota beside or after it.
  struct Written {
    kube::Result<bool> record = false;                ///< false: another replica was faster
    std::optional<kube::Result<kube::Object>> quota;  ///< nothing if it was not read
  };
  /// Brings the Quota and the record up to date, and waits for the caches; or why nobody can be answered.
  asio::awaitable<std::optional<core::QuotaVerdict>> look();
  core::QuotaStanding standing_by(const core::LedgerRecord& next) const;
  Said ask(core::AdmissionRound& round);
  /// Writes what a round has reserved. True: it stands by the Quota that it was decided by; false: decide again.
  asio::awaitable<kube::Result<bool>> write(core::LedgerRecord next, const Said& said);
  /// Writes the record, and reads the Quota at the same time.
  asio::awaitable<Written> write_and_read(core::LedgerRecord next);
  asio::awaitable<void> write_into(Written& written, core::LedgerRecord next);
  asio::awaitable<void> read_into(Written& written);
  /// The record was written, with reservations that no other caller has asked for before.
  void note_reserved(const Said& said);
  /// What was admitted was admitted by the Quota as it is.
  void clear_doubts(const Said& said);

  DeskContext& context_;
  QuotaRecord& record_;
  core::LargeClaims& large_;
  const DeskBatch& batch_;
  DeskLook look_;
};

}  // namespace liqo::quota
