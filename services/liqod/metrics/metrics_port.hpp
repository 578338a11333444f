// The port of /metrics: HTTPS for callers whom the API server lets read it, or plain HTTP.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "kube/client/api.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/tls/server_identity.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "kubelet/authorizer.hpp"
#include "metrics_text.hpp"

namespace liqod {

/// Settings of the operator.
struct MetricsPortSettings {
  std::string address;  ///< IP; "" = every address
  std::uint16_t port = 8082;
  bool secure = true;              ///< HTTPS, for callers whose token may `get` the path /metrics
  std::string certificate_path{};  ///< directory with tls.crt and tls.key, read again every 30 s; "" = one of our own
  std::string node_ip{};           ///< an address in our own certificate, beside the names of the Service
  std::string ns = "liqo";         ///< of that Service
  PeerNames names = PeerNames::shown;
};

/// Call listen() first, then run(), which ends only by cancellation. One thread.
class MetricsPort {
 public:
  /// `replica_api` is asked who may read the metrics. It and the other arguments outlive this.
  MetricsPort(const kube::Environment& environment, kube::Api& replica_api, std::function<void()> refresh,
              MetricsPortSettings settings);

  /// Opens the port and returns its number. Errors: Errc::connect ("address in use"), those of WatchedFile::read()
  /// (a file of the certificate), Errc::tls (it cannot be used).
  kube::Result<std::uint16_t> listen();
  boost::asio::awaitable<void> run();
  /// Counters of the server; empty before listen().
  kube::net::HttpServerCounters counters() const;

  boost::asio::awaitable<void> handle(const kube::net::ServerRequest& request, kube::net::ServerResponse& response);

 private:
  using Refusal = liqo::kubelet::Refusal;

  kube::Result<kube::net::KeyAndCertificate> read_certificate() const;
  kube::Result<kube::net::KeyAndCertificate> make_certificate() const;
  boost::asio::awaitable<void> keep_certificate();
  /// Shows in the metrics how long the certificate is valid, and sets when it is to be renewed.
  void show(const kube::net::KeyAndCertificate& pair);
  boost::asio::awaitable<std::expected<void, Refusal>> admit(const kube::net::ServerRequest& request);

  boost::asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  kube::Metrics& metrics_;
  MetricsPortSettings settings_;
  kube::Log log_{"metrics"};
  kube::Repeats refusals_;
  MetricsText text_;
  liqo::kubelet::Authorizer authorizer_;
  kube::net::ServerIdentity identity_;
  kube::net::KeyAndCertificate pair_;  ///< the last one that was tried
  kube::WallTime renewal_;
  std::optional<kube::net::HttpServer> server_;
};

}  // namespace liqod
