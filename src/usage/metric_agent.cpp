#include "usage/metric_agent.hpp"

#include "core/common/names.hpp"
#include "core/usage/metrics_api.hpp"
#include "kube/async/finally.hpp"
#include "kube/base/url.hpp"
#include "kube/net/http/plain_text.hpp"
#include "liqo/api/names.hpp"
#include "telemetry/families.hpp"

namespace liqo::usage {
namespace {

using kube::net::ServerRequest;
using kube::net::ServerResponse;

/// Each API server keeps some connections open.
constexpr std::size_t max_connections = 256;
constexpr std::size_t piece = 64U << 10;

/// The names that API servers use in calls.
webhook::CertificateSettings certificate_settings(const MetricAgentSettings& settings) {
  webhook::CertificateSettings made;
  made.lifetime = settings.certificate_lifetime;
  made.dns_names = core::service_names(core::metric_agent_service, settings.ns);
  return made;
}

}  // namespace

MetricAgent::MetricAgent(MetricAgentContext context, MetricAgentSettings settings)
    : context_(std::move(context)),
      settings_(std::move(settings)),
      log_("metric-agent"),
      refused_(context_.metrics.counter(families::usage_refused)),
      unknown_callers_(context_.metrics.counter(families::usage_unknown_callers)),
      identity_([this](kube::net::TlsContext tls) { server_->replace_tls(std::move(tls)); }),
      token_(context_, context_.replica_api, settings_.ns),
      clients_(context_, context_.kubelets, token_),
      scraper_(
          context_, context_.nodes_of,
          context_.ask
              ? context_.ask
              : [this](std::string address, std::uint16_t port, std::string path,
                       kube::Deadline
                           deadline) { return clients_.ask(std::move(address), port, std::move(path), deadline); },
          settings_.scrapes),
      api_service_({context_.environment(), context_.leader_api, context_.home, context_.events, context_.is_ready,
                    settings_.ns}),
      certificates_(context_.executor, context_.replica_api, context_.home,
                    {settings_.ns, std::string(api::metric_agent_secret)}, "metric-agent",
                    certificate_settings(settings_), [this](const webhook::CertificateState& state) { use(state); }),
      front_proxy_map_(
          context_.home.acquire({.resource = kube::resources::config_maps,
                                 .ns = core::authentication_map.ns,
                                 .selection = {.field_selector = kube::name_is(core::authentication_map.name)}})) {
  front_proxy_map_.follow([this](const kube::Change&) { use_front_proxy(); });
}

kube::Result<std::uint16_t> MetricAgent::listen() {
  KUBE_TRY(pair, webhook::temporary_certificate(core::metric_agent_service, context_.clock.wall()), "metric agent");
  KUBE_TRY(tls, identity_.begin(std::move(pair)), "metric agent");
  server_.emplace(context_.executor, context_.clock,
                  kube::net::HttpServerOptions{
                      .port = settings_.port,
                      .tls = std::move(tls),
                      .max_connections = max_connections,
                      .max_body = 16U << 10,
                      .max_held = 4U << 20,
                      .admits =
                          [this](const std::optional<kube::net::PeerIdentity>& peer) {
                            const bool is_proxy = peer && core::is_front_proxy(front_proxy_, peer->common_name);
                            if (!is_proxy) unknown_callers_.add();
                            return is_proxy;
                          },
                      .on_handler_failure =
                          [this](std::string_view line, std::string_view what) {
                            log_.error("a request failed unexpectedly", {{"request", line}, {"error", what}});
                          }},
                  [this](const ServerRequest& request, ServerResponse& response) { return handle(request, response); });
  KUBE_TRY(port, server_->listen(), "metric agent: port " + std::to_string(settings_.port));
  return port;
}

kube::net::HttpServerCounters MetricAgent::counters() const {
  return server_ ? server_->counters() : kube::net::HttpServerCounters{};
}

std::string MetricAgent::waiting_for() const {
  return certificates_.has_certificate() ? "" : "the metric agent has no certificate yet";
}

asio::awaitable<void> MetricAgent::run() {
  // Three groups, in the order in which they stop: servers, then scrapes, then the connections and the token that
  // scrapes use.
  kube::async::TaskGroup connections(context_.executor), scrapes(context_.executor), servers(context_.executor);
  connections.spawn(clients_.run());
  connections.spawn(token_.run());
  scrapes.spawn(scraper_.run());
  servers.spawn(server_->serve());
  servers.spawn(certificates_.run());
  servers.spawn(kube::run_while_leading(context_.leadership, [this] { return api_service_.run(); }));
  co_await kube::async::finally(servers.join(), kube::async::stop_in_turn(servers, scrapes, connections));
}

void MetricAgent::use(const webhook::CertificateState& state) {
  if (const auto used = webhook::show_certificate(identity_, state, context_.metrics, "metric-agent"); !used) {
    log_.error("a new certificate cannot be used", {{"error", used.error()}});
    return;
  }
  api_service_.trust(state.authority);
}

void MetricAgent::use_front_proxy() {
  const auto map = front_proxy_map_->find(core::authentication_map);
  // Without the ConfigMap no caller is trusted.
  core::FrontProxy latest = map ? core::read_front_proxy(*map) : core::FrontProxy();
  if (latest == front_proxy_) return;
  front_proxy_ = std::move(latest);
  const auto used = identity_.use_client_ca(front_proxy_.ca_pem);
  if (!used) {
    log_.error("the CA of the front proxy cannot be used", {{"error", used.error()}});
    front_proxy_ = {};
  } else if (*used) {
    // Connected callers were verified against the CA before.
    server_->forget_clients();
  }
}

asio::awaitable<void> MetricAgent::handle(const ServerRequest& request, ServerResponse& response) {
  const std::string path(kube::path_of(request.target));
  if (request.method != "GET")
    co_return co_await send_text(response, 405, "only GET is served here", {{"allow", "GET"}});
  const kube::admission::User user = core::proxied_user(front_proxy_, request.headers);
  if (user.name.empty()) co_return co_await send_text(response, 401, "the front proxy names no user");
  if (auto document = core::metrics_api_document(path)) {
    static_cast<void>(co_await response.send(200, {{"content-type", "application/json"}}, std::move(*document)));
    co_return;
  }
  auto route = core::read_scrape_route(path);
  if (!route) co_return co_await send_text(response, route.error().status, std::move(route.error().sentence));
  if (auto refusal = core::refuse_scrape(user, route->consumer)) {
    refused_.add();
    if (const auto held_back = refusals_.note(user.name, context_.clock.now()))
      log_.warn("refused a request for usage", {{"reason", refusal->sentence}, {"others_since", *held_back}});
    co_return co_await send_text(response, refusal->status, std::move(refusal->sentence));
  }
  if (token_.token().empty())
    co_return co_await send_text(response, 500,
                                 "no kubelet is asked, because there is no token: liqoctl check says what is missing");
  const auto text = co_await scraper_.scrape(std::move(route->consumer), std::move(route->kubelet_path));
  if (!text) {
    const int status = text.error().code() == kube::Errc::connect ? 500 : 503;
    co_return co_await send_text(response, status, text.error().text());
  }
  auto going = co_await response.start(200, {{"content-type", kube::net::metrics_text_type}});
  for (std::string_view rest = **text; going && !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
    going = co_await response.write(rest.substr(0, piece));
}

}  // namespace liqo::usage
