// What the admission webhooks need of the process.
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

/// The webhooks, and what they decide with.
struct Webhooks {
  liqo::quota::QuotaLedger* ledger = nullptr;          ///< of the process; null where quotas are not enforced
  std::unique_ptr<liqo::quota::QuotaDisplay> display;  ///< of what the ledger counts
  std::unique_ptr<liqo::quota::QuotaMetrics> metrics;
  std::unique_ptr<liqo::webhook::Callers> callers;  ///< null = certificates say who asks
  std::unique_ptr<liqo::webhook::Webhook> webhook;
};

/// Empty where the operator has switched them off. What is passed in outlives them.
Webhooks make_webhooks(liqo::controllers::Process& process, const Options& options);

}  // namespace liqod
