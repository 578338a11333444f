// Gives the admission webhooks what they need of the process.
#pragma once

#include <memory>

#include "liqo/controllers/process.hpp"
#include "liqo/controllers/quota_display.hpp"
#include "liqo/controllers/quota_ledger.hpp"
#include "liqo/controllers/quota_metrics.hpp"
#include "liqo/webhook/quota_gate.hpp"
#include "liqo/webhook/webhook.hpp"
#include "options.hpp"

namespace liqod {

/// The webhooks, the gate that they ask, and what it decides with.
struct Webhooks {
  std::unique_ptr<liqo::controllers::QuotaLedger> ledger;    ///< none where quotas are not enforced
  std::unique_ptr<liqo::controllers::QuotaDisplay> display;  ///< of what the ledger counts
  std::unique_ptr<liqo::controllers::QuotaMetrics> metrics;
  std::unique_ptr<liqo::webhook::QuotaGate> gate;
  std::unique_ptr<liqo::webhook::Callers> callers;  ///< where there is a ledger
  std::unique_ptr<liqo::webhook::Webhook> webhook;
};

/// Empty where the operator has switched them off. What is passed in outlives them.
Webhooks make_webhooks(liqo::controllers::Process& process, const Options& options);

}  // namespace liqod
