// The metric agent, which serves metrics.liqo.io: its server, its certificate, and the Scraper.
#pragma once

#include <memory>
#include <optional>

#include "core/usage/front_proxy.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/tls/server_identity.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/leadership.hpp"
#include "usage/api_service.hpp"
#include "usage/kubelet_clients.hpp"
#include "usage/scraper.hpp"
#include "webhook/certificates.hpp"

namespace liqo::usage {

/// The operator's settings.
struct MetricAgentSettings {
  std::uint16_t port = 8443;  ///< 0 in tests only: the system picks one
  std::string ns = "liqo";    ///< of the Service and the Secret
  kube::Duration certificate_lifetime = std::chrono::hours(24 * 90);
  ScrapeSettings scrapes;
};

/// The parts of the process that the agent uses; all of them outlive it.
struct MetricAgentContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& leader_api;   ///< for the APIService
  kube::Api& replica_api;  ///< for its certificates and its token, because every replica serves
  kube::Leadership& leadership;
  kube::EventRecorder& events;
  std::function<bool()> is_ready;  ///< whether the other parts of the process are ready
  Scraper::NodesOf nodes_of;
  KubeletAuthority kubelets;
  Scraper::Ask ask = nullptr;  ///< replaces kubelets in tests
};

/// Serves the usage of consumers' pods to API servers. It trusts their headers about the user if they show the
/// certificate of the front proxy; every other caller is refused. While there is no token for kubelets, all requests
/// are refused. Every replica serves. Order of use: listen(), then run(). One thread.
class MetricAgent {
 public:
  MetricAgent(MetricAgentContext context, MetricAgentSettings settings);

  /// Opens the port and returns its number. Errors: Errc::connect ("address in use"), Errc::tls.
  kube::Result<std::uint16_t> listen();
  /// Serves. Ends only by cancellation.
  asio::awaitable<void> run();
  kube::net::HttpServerCounters counters() const;
  /// Why the agent cannot answer yet; "" once it can.
  std::string waiting_for() const;

  /// Answers one request of a front proxy, whose headers name the user; public for tests.
  asio::awaitable<void> handle(const kube::net::ServerRequest& request, kube::net::ServerResponse& response);

 private:
  void use(const webhook::CertificateState& state);
  void use_front_proxy();

  MetricAgentContext context_;
  MetricAgentSettings settings_;
  kube::Log log_;
  kube::Repeats refusals_;
  kube::Counter refused_, unknown_callers_;
  kube::net::ServerIdentity identity_;
  KubeletTokenKeeper token_;
  KubeletClients clients_;
  Scraper scraper_;
  ApiServiceKeeper api_service_;
  webhook::Certificates certificates_;
  core::FrontProxy front_proxy_;
  kube::InformerHandle front_proxy_map_;
  std::optional<kube::net::HttpServer> server_;
};

}  // namespace liqo::usage
