// What consumers may have here, have, and could still have, as metrics.
// Tested by test/unit/quota/quota_display_test.cpp.
#pragma once

#include "quota/quota_ledger.hpp"

namespace liqo::quota {

/// What the ledger would say at the moment of the scrape. Only the process that leads shows it. One thread.
class QuotaMetrics {
 public:
  /// How many slices of a consumer, and resources of a slice, are shown: a consumer chooses the names of both. A metric
  /// counts the amounts that are left out.
  static constexpr std::size_t max_slices = 50, max_resources = 16;

  /// `ledger` outlives this.
  QuotaMetrics(LedgerContext context, const QuotaLedger& ledger);

 private:
  void refresh();

  LedgerContext context_;
  const QuotaLedger& ledger_;
  kube::InformerHandle quotas_, namespaces_;
  kube::GaugeSet granted_, used_, free_, pods_, left_out_;
  kube::TimePoint next_{};          ///< not read anew before
  kube::Metrics::Reading reading_;  ///< last: it calls the others
};

}  // namespace liqo::quota
