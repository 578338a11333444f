#include "webhook/webhook.hpp"

#include <algorithm>

#include "core/common/ip.hpp"
#include "core/common/names.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/timeout.hpp"
#include "kube/wire/server_url.hpp"
#include "liqo/api/names.hpp"

namespace liqo::webhook {
namespace {

using namespace std::chrono_literals;

/// The time for reviews that are under way when the process stops.
constexpr kube::Duration last_reviews = 2s;
/// ... and for writing the refusals.
constexpr kube::Duration last_refusals = 2s;

/// The names that API servers use in calls: those of the Service, and the host of the URL if there is one.
kube::Result<CertificateSettings> certificate_settings(const WebhookSettings& settings) {
  CertificateSettings made;
  made.lifetime = settings.certificate_lifetime;
  made.dns_names = core::service_names(service_name, settings.ns);
  if (settings.url.empty()) return made;
  KUBE_TRY(url, kube::wire::parse_server_url(settings.url), "webhook URL");
  if (!url.tls || !url.path.empty())
    return kube::fail(kube::Errc::invalid_input, "webhook URL: " + settings.url + " is not https://host[:port]");
  if (const auto address = core::IpAddress::parse(url.host))
    made.ip_addresses.push_back(address->text());
  else
    made.dns_names.push_back(url.host);
  return made;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

Webhook::Webhook(WebhookContext context, WebhookSettings settings)
    : context_(context),
      settings_(std::move(settings)),
      log_("webhook"),
      client_ca_file_(context_.clock, settings_.client_ca_file),
      identity_([this](kube::net::TlsContext tls) { server_->replace_tls(std::move(tls)); }),
      reviews_({.home = context_.home,
                .replica_api = context_.replica_api,
                .ledger = context_.ledger,
                .liqo_namespace = settings_.ns,
                .callers = context_.callers,
                .twin_names = settings_.twin_names,
                .selected_namespaces = settings_.selected_namespaces}),
      refusals_({context_.environment(), context_.home, context_.replica_api, context_.leadership, context_.callers}),
      configurations_(context_, context_.leader_api, context_.home,
                      {.url = without_slash(settings_.url),
                       .ns = settings_.ns,
                       .failure_policy = settings_.failure_policy,
                       .selected_namespaces = settings_.selected_namespaces.moves_pods()
                                                  ? settings_.selected_namespaces.requirements()
                                                  : kube::json::array()}) {}

kube::Result<std::uint16_t> Webhook::listen() {
  KUBE_TRY(certificates, certificate_settings(settings_));
  certificates_ = std::make_unique<Certificates>(
      context_.executor, context_.replica_api, context_.home,
      kube::ObjectKey{settings_.ns, std::string(api::webhook_certificate_secret)}, "webhook", std::move(certificates),
      [this](const CertificateState& state) { use(state); });
  KUBE_TRY(pair, temporary_certificate(service_name, context_.clock.wall()), "webhooks");
  AdmissionServerSettings settings{
      .port = settings_.port,
      .on_refusal = [this](const core::admission::Request& review, const core::admission::Answer& answer) {
        refusals_.note(review, answer);
      }};
  if (!settings_.client_ca_file.empty()) {
    KUBE_TRY(ca, client_ca_file_.read(), "webhooks: client CA");
    use_client_ca(std::move(ca));
    // The TLS handshake has already refused certificates of other CAs.
    settings.admits = [&names = settings_.client_names](const std::optional<kube::net::PeerIdentity>& caller) {
      return caller && (names.empty() || std::ranges::find(names, caller->common_name) != names.end());
    };
  }
  KUBE_TRY(tls, identity_.begin(std::move(pair)), "webhooks");
  server_ = std::make_unique<AdmissionServer>(context_, std::move(tls), std::move(settings));
  reviews_.add_to(*server_);
  KUBE_TRY(port, server_->listen(), "webhooks: port " + std::to_string(settings_.port));
  return port;
}

kube::net::HttpServerCounters Webhook::counters() const {
  return server_ ? server_->counters() : kube::net::HttpServerCounters{};
}

asio::awaitable<void> Webhook::run() {
  kube::async::TaskGroup group(context_.executor);
  group.spawn(server_->run());
  group.spawn(certificates_->run());
  group.spawn(refusals_.run());
  if (context_.callers) group.spawn(context_.callers->run());
  if (!settings_.client_ca_file.empty())
    group.spawn(client_ca_file_.watch([this](std::string pem) { use_client_ca(std::move(pem)); }));
  group.spawn(kube::run_while_leading(context_.leadership, [this] { return configurations_.run(); }));
  co_await group.join();
}

asio::awaitable<void> Webhook::stop(kube::Duration delay) {
  server_->send_away();
  co_await context_.clock.sleep(delay);
  co_await server_->stop(last_reviews);
  co_await kube::async::with_timeout(context_.clock, refusals_.flush(), last_refusals);
}

void Webhook::use_client_ca(std::string pem) {
  const auto used = identity_.use_client_ca(std::move(pem));
  if (!used) {
    log_.error("a new client CA of the webhooks cannot be used", {{"error", used.error()}});
  } else if (*used) {
    server_->forget_clients();
    log_.info("callers of the webhooks are known by a new client CA");
  }
}

void Webhook::use(const CertificateState& state) {
  if (const auto used = show_certificate(identity_, state, context_.metrics, "webhook"); !used) {
    log_.error("a new certificate cannot be used", {{"error", used.error()}});
    return;
  }
  configurations_.trust(state.authority);
  log_.info("the webhooks have a certificate");
}

std::string Webhook::waiting_for() const {
  if (!certificates_ || !certificates_->has_certificate()) return "the webhooks have no certificate yet";
  return reviews_.waiting_for();
}

}  // namespace liqo::webhook
