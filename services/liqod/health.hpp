// The answers to probes, /healthz and /readyz, and the figures of the process itself.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/net/http_server.hpp"
#include "kube/telemetry/metrics.hpp"
#include "metrics_text.hpp"

namespace liqod {

/// Answers the two paths. `waiting_for` says what readiness still waits for, "" when ready.
kube::net::HttpHandler serve_health(std::function<std::string()> waiting_for, PeerNames names);

/// The process's own figures (memory, CPU), as every Prometheus client library names them.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(kube::Metrics& metrics);
  /// Reads the figures anew.
  void refresh();

 private:
  kube::Gauge resident_;
  kube::Counter cpu_;
};

/// What one server of the process has done: connections, and what was refused.
class ServerMetrics {
 public:
  ServerMetrics(kube::Metrics& metrics, const std::string& server);
  void show(const kube::net::HttpServerCounters& counters);

 private:
  kube::Gauge connections_;
  kube::Gauge held_;
  kube::Counter accepted_, refused_, evicted_, without_room_, handshake_failures_, requests_;
};

}  // namespace liqod
