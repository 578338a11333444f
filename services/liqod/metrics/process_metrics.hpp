// The metrics of the process itself and of its servers.
#pragma once

#include <string>

#include "kube/net/http/http_server.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// The metrics of the process (memory, CPU), under the names of every Prometheus client library.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(kube::Metrics& metrics);
  /// Reads the values again.
  void refresh();

 private:
  kube::Gauge resident_;
  kube::Counter cpu_;
};

/// The counters of one server of the process: connections, and refusals.
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
