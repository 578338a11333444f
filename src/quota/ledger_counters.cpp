#include "quota/ledger_counters.hpp"

#include "telemetry/families.hpp"

namespace liqo::quota {

LedgerCounters::LedgerCounters(kube::Metrics& metrics) {
  const auto counter = [&](std::string_view outcome) {
    return metrics.counter(families::quota_admissions, {{"outcome", std::string(outcome)}});
  };
  admitted = counter("admitted");
  refused = counter("refused");
  unavailable = counter("unavailable");
  held_back = counter("held_back");
  unproven = metrics.gauge(families::quota_unproven);
  commits = metrics.counter(families::quota_commits);
  conflicts = metrics.counter(families::quota_conflicts);
  without_quota = metrics.counter(
      families::quota_refusals, {{"cluster_id", ""}, {"reason", std::string(word_for(core::QuotaRefusal::no_quota))}});
}

void LedgerCounters::count(core::QuotaVerdict::Ruling ruling) {
  using Ruling = core::QuotaVerdict::Ruling;
  switch (ruling) {
    case Ruling::admitted:
      return admitted.add();
    case Ruling::refused:
      return refused.add();
    case Ruling::unavailable:
      return unavailable.add();
    case Ruling::held_back:
      return held_back.add();
  }
}

}  // namespace liqo::quota
