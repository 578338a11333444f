// Shows in the status of each Quota how much of it is used. No decision depends on it.
#pragma once

#include <optional>

#include "quota/quota_ledger.hpp"

namespace liqo::quota {

/// Writes while this process leads: only changes, and each Quota at most once in 1.3 seconds. The CRD of Quotas may
/// have no status: the one of the Go version has none, and may be applied at any time. That is reported once, in the
/// log and by an Event of a Quota, and tried again when something changes, at most once a minute. One thread.
class QuotaDisplay {
 public:
  /// `ledger` outlives this.
  QuotaDisplay(LedgerContext context, QuotaLedger& ledger);
  ~QuotaDisplay();

  /// Writes statuses until cancelled.
  asio::awaitable<void> run();

 private:
  enum class Shown {
    yes,       ///< shown, or nothing was to be done
    failed,    ///< to be tried again
    has_none,  ///< the kind has no status
  };
  asio::awaitable<void> show();
  asio::awaitable<Shown> write(kube::ObjectKey key);
  /// Each does so once.
  Shown report_absence(const kube::ObjectKey& key);
  Shown log_failure(const kube::ObjectKey& key, const kube::Failure& failure);

  LedgerContext context_;
  QuotaLedger& ledger_;
  kube::InformerHandle quotas_;
  kube::async::Event changed_;
  QuotaLedger::UsageReader reader_;
  bool absent_ = false;    ///< the kind has no status, and that was reported
  bool troubled_ = false;  ///< writes fail, and that was reported
  kube::Log log_{"quota-display"};
};

}  // namespace liqo::quota
