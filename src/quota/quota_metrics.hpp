// Metrics of what consumers are granted here, use, and have left.
// Tested by test/unit/quota/quota_display_test.cpp.
#pragma once

#include "quota/quota_ledger.hpp"

namespace liqo::quota {

/// Gauges with the state of the ledger at the moment of the scrape. Only the process that leads shows them. One thread.
class QuotaMetrics {
 public:
  /// The most slices of a consumer, and resources of a slice, that are shown, because a consumer chooses the names of
  /// both. A metric counts the amounts that are left out.
  static constexpr std::size_t max_slices = 50, max_resources = 16;

  /// `ledger` outlives this.
  QuotaMetrics(LedgerContext context, const QuotaLedger& ledger);

 private:
  void refresh();

  LedgerContext context_;
  const QuotaLedger& ledger_;
  kube::InformerHandle quotas_, namespaces_;
  kube::GaugeSet granted_, used_, free_, pods_, left_out_;
  kube::TimePoint next_{};          ///< the earliest time of the next reading
  kube::Metrics::Reading reading_;  ///< the last member: it calls the others
};

}  // namespace liqo::quota
