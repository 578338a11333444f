#include "webhooks.hpp"

#include "liqo/core/admission/shadow_pod.hpp"

namespace liqod {
namespace {

using liqo::controllers::Judgement;
using liqo::core::admission::Answer;

/// Asks the ledger.
class LedgerGate final : public liqo::webhook::QuotaGate {
 public:
  explicit LedgerGate(liqo::controllers::QuotaLedger& ledger) : ledger_(ledger) {}

  boost::asio::awaitable<Answer> decide(liqo::webhook::GateQuestion question) override {
    namespace admission = liqo::core::admission;
    const admission::Request& request = question.request;
    const bool creates = request.operation == admission::Operation::create;
    const auto stored = ledger_.stored(question.origin);
    if (std::string refusal = admission::refuse_growth(request, question.origin, stored.objects, stored.bytes,
                                                       question.policy, question.claimant.proven);
        !refusal.empty())
      co_return Answer::deny(std::move(refusal));
    if (!creates && !admission::is_resize(request)) co_return Answer::allow();
    Judgement judgement = creates
                              ? co_await ledger_.admit(request.object, request.dry_run, std::move(question.claimant))
                              : co_await ledger_.admit_resize(request.old_object, request.object, request.dry_run,
                                                              std::move(question.claimant));
    switch (judgement.ruling) {
      case Judgement::Ruling::admitted:
        co_return Answer::allow();
      case Judgement::Ruling::refused:
        co_return Answer::deny(std::move(judgement.text));
      case Judgement::Ruling::unavailable:
      case Judgement::Ruling::held_back:
        break;
    }
    co_return Answer::unavailable(std::move(judgement.text));
  }

  std::string waiting_for() const override {
    return ledger_.has_synced() ? "" : "the pods that hold quota are not counted yet";
  }

 private:
  liqo::controllers::QuotaLedger& ledger_;
};

/// Where quotas bind nobody.
class OpenGate final : public liqo::webhook::QuotaGate {
 public:
  boost::asio::awaitable<Answer> decide(liqo::webhook::GateQuestion) override { co_return Answer::allow(); }
  std::string waiting_for() const override { return ""; }
};

}  // namespace

Webhooks make_webhooks(liqo::controllers::Process& process, const Options& options) {
  if (options.webhook_port == 0) return {};
  const liqo::controllers::Context context = process.context();
  Webhooks made;
  if (options.settings.enforce_resources) {
    made.ledger = std::make_unique<liqo::controllers::QuotaLedger>(context, process.open_api(), options.ledger);
    made.display = std::make_unique<liqo::controllers::QuotaDisplay>(context, *made.ledger);
    made.metrics = std::make_unique<liqo::controllers::QuotaMetrics>(context, *made.ledger);
    made.gate = std::make_unique<LedgerGate>(*made.ledger);
    made.callers =
        std::make_unique<liqo::webhook::Callers>(context.executor, process.open_api(), context.clock, context.metrics);
    made.ledger->on_confirmed([&callers = *made.callers](const std::string& address) { callers.confirm(address); });
  } else {
    made.gate = std::make_unique<OpenGate>();
  }
  made.webhook = std::make_unique<liqo::webhook::Webhook>(
      liqo::webhook::WebhookContext{context.environment(), process.home(), process.api(), process.open_api(),
                                    process.leadership(), *made.gate, made.callers.get()},
      liqo::webhook::WebhookSettings{.port = options.webhook_port,
                                     .url = options.webhook_url,
                                     .ns = options.settings.liqo_namespace,
                                     .failure_policy = options.webhook_failure_policy,
                                     .enforce_quotas = options.settings.enforce_resources,
                                     .twin_names = options.settings.twin_names,
                                     .selected_namespaces = options.settings.selected_namespaces,
                                     .certificate_lifetime = options.webhook_certificate_lifetime,
                                     .client_ca_file = options.webhook_client_ca_file,
                                     .client_names = options.webhook_client_names});
  return made;
}

}  // namespace liqod
