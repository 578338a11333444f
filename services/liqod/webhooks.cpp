#include "webhooks.hpp"

namespace liqod {

Webhooks make_webhooks(liqo::controllers::Process& process, const Options& options) {
  if (options.webhook_port == 0) return {};
  const liqo::controllers::Context context = process.context();
  Webhooks made;
  made.ledger = process.ledger();
  if (made.ledger) {
    const liqo::quota::LedgerContext quotas{context.environment(), context.home, context.events, context.leadership,
                                            options.settings.liqo_namespace};
    made.display = std::make_unique<liqo::quota::QuotaDisplay>(quotas, *made.ledger);
    made.metrics = std::make_unique<liqo::quota::QuotaMetrics>(quotas, *made.ledger);
  }
  // API servers without a client certificate are known by their addresses alone, whether or not Quotas are enforced.
  if (made.ledger || options.webhook_client_ca_file.empty())
    made.callers = std::make_unique<liqo::webhook::Callers>(context, process.replica_api());
  if (made.ledger)
    made.ledger->on_confirmed([&callers = *made.callers](const std::string& address) { callers.confirm(address); });
  made.webhook = std::make_unique<liqo::webhook::Webhook>(
      liqo::webhook::WebhookContext{context.environment(), process.home(), process.leader_api(), process.replica_api(),
                                    process.leadership(), made.ledger, made.callers.get()},
      liqo::webhook::WebhookSettings{.port = options.webhook_port,
                                     .url = options.webhook_url,
                                     .ns = options.settings.liqo_namespace,
                                     .failure_policy = options.webhook_failure_policy,
                                     .twin_names = options.settings.namespaces.twin_names,
                                     .selected_namespaces = options.settings.namespaces.selected_namespaces,
                                     .certificate_lifetime = options.webhook_certificate_lifetime,
                                     .client_ca_file = options.webhook_client_ca_file,
                                     .client_names = options.webhook_client_names});
  return made;
}

}  // namespace liqod
