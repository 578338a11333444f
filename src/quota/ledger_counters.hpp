// The metrics of the quota ledger.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include "core/quota/admission_round.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqo::quota {

/// The series that the ledger and its desks count by. One thread.
struct LedgerCounters {
  explicit LedgerCounters(kube::Metrics& metrics);

  /// Counts what was said to a ShadowPod by its ruling.
  void count(core::QuotaVerdict::Ruling ruling);

  kube::Counter admitted, refused, unavailable, held_back;
  kube::Gauge unproven;         ///< reservations that callers asked for whom nothing had proven
  kube::Counter commits;        ///< writes of records
  kube::Counter conflicts;      ///< those of them that another replica was faster with
  kube::Counter without_quota;  ///< refusals for want of a Quota, which name no consumer
};

}  // namespace liqo::quota
