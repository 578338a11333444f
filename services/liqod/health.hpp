// What operators and probes ask: /metrics, /healthz, /readyz.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "kube/net/http_server.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// What anybody who reaches the port learns of the peers.
enum class PeerNames : std::uint8_t {
  shown,
  numbered  ///< each peer is "peer-<n>", the same one for as long as the process lives
};

/// Answers the three paths. `waiting_for` says what readiness still waits for, "" when ready; `refresh` reads figures
/// anew that nobody counts in `metrics` as they change.
kube::net::HttpHandler serve_health(kube::Metrics& metrics, std::function<std::string()> waiting_for,
                                    std::function<void()> refresh, PeerNames names);

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

/// Seconds of CPU that this thread has used.
double thread_cpu_seconds();

}  // namespace liqod
