// The metrics of the quota ledger.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include "core/quota/admission_round.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqo::quota {

/// The series in which the ledger and its desks count. One thread.
struct LedgerCounters {
  explicit LedgerCounters(kube::Metrics& metrics);

  /// Counts a verdict by its ruling.
  void count(core::QuotaVerdict::Ruling ruling);

  kube::Counter admitted, refused, unavailable, held_back;
  kube::Gauge unproven;         ///< reservations of unproven callers
  kube::Counter commits;        ///< writes of records
  kube::Counter conflicts;      ///< those that failed because another replica was faster
  kube::Counter without_quota;  ///< refusals for lack of a Quota, without a consumer's name
};

}  // namespace liqo::quota
