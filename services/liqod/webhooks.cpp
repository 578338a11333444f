#include "webhooks.hpp"

#include "liqo/webhook/quota_lookup.hpp"

namespace liqod {

Webhooks make_webhooks(const boost::asio::any_io_executor& executor, liqo::controllers::Process& process,
                       kube::async::Clock& clock, kube::Random& random, kube::Metrics& metrics,
                       const Options& options) {
  if (options.webhook_port == 0) return {};
  Webhooks made;
  made.gate = std::make_unique<liqo::webhook::QuotaLookup>(process.home());
  made.webhook = std::make_unique<liqo::webhook::Webhook>(
      executor,
      liqo::webhook::WebhookContext{.home = process.home(),
                                    .api = process.api(),
                                    .open_api = process.open_api(),
                                    .leadership = process.leadership(),
                                    .clock = clock,
                                    .random = random,
                                    .metrics = metrics,
                                    .gate = *made.gate},
      liqo::webhook::WebhookSettings{.port = options.webhook_port,
                                     .url = options.webhook_url,
                                     .ns = options.settings.liqo_namespace,
                                     .enforce_quotas = options.enforce_resources,
                                     .certificate_lifetime = options.webhook_certificate_lifetime});
  return made;
}

}  // namespace liqod
