// What operators and probes ask: /metrics, /healthz, /readyz.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/net/http_server.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// Answers the three paths. `waiting_for` says what readiness still waits for, "" when ready.
kube::net::HttpHandler serve_health(kube::Metrics& metrics, std::function<std::string()> waiting_for);

/// The process's own figures (memory, CPU), as every Prometheus client library names them.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(kube::Metrics& metrics);
  /// Reads the figures anew.
  void refresh();

 private:
  kube::Gauge resident_, cpu_;
};

/// Seconds of CPU that this thread has used.
double thread_cpu_seconds();

}  // namespace liqod
