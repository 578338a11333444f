// The admission webhooks, assembled from the parts of the process.
// Tested by test/cluster/webhook/test_admission.py.
#pragma once

#include <memory>

#include "controllers/process/process.hpp"
#include "options/options.hpp"
#include "quota/quota_display.hpp"
#include "quota/quota_ledger.hpp"
#include "quota/quota_metrics.hpp"
#include "webhook/webhook.hpp"

namespace liqod {

/// The webhooks, and the parts by which they decide.
struct Webhooks {
  liqo::quota::QuotaLedger* ledger = nullptr;          ///< of the process; null if quotas are not enforced
  std::unique_ptr<liqo::quota::QuotaDisplay> display;  ///< of what the ledger counts
  std::unique_ptr<liqo::quota::QuotaMetrics> metrics;
  std::unique_ptr<liqo::webhook::Callers> callers;  ///< null = certificates identify the caller
  std::unique_ptr<liqo::webhook::Webhook> webhook;
};

/// Empty if the operator has switched them off. The arguments outlive them.
Webhooks make_webhooks(liqo::controllers::Process& process, const Options& options);

}  // namespace liqod
