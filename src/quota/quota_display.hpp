// Shows in the status of each Quota what is used of it, for people. Nothing is decided by it.
#pragma once

#include <optional>

#include "quota/quota_ledger.hpp"

namespace liqo::quota {

/// Writes while this process leads: only what has changed, and a Quota at most once in 1.3 seconds. Where the CRD of
/// Quotas has no status (the Go version's, which may be applied at any time) it says so once, in the log and in an
/// Event of a Quota, and tries again when something changes, at most once a minute. One thread.
class QuotaDisplay {
 public:
  /// `ledger` outlives this.
  QuotaDisplay(LedgerContext context, QuotaLedger& ledger);
  ~QuotaDisplay();

  /// Shows until cancelled.
  asio::awaitable<void> run();

 private:
  enum class Shown {
    yes,       ///< or nothing was to be done
    failed,    ///< wants to be tried again
    has_none,  ///< the kind has no status
  };
  asio::awaitable<void> show();
  asio::awaitable<Shown> write(kube::ObjectKey key);
  /// Each says it once.
  Shown say_absent(const kube::ObjectKey& key);
  Shown say_failed(const kube::ObjectKey& key, const kube::Failure& failure);

  LedgerContext context_;
  QuotaLedger& ledger_;
  kube::InformerHandle quotas_;
  kube::async::Event changed_;
  QuotaLedger::UsageReader reader_;
  bool absent_ = false;    ///< the kind has no status, and that was said
  bool troubled_ = false;  ///< writes fail, and that was said
  kube::Log log_{"quota-display"};
};

}  // namespace liqo::quota
