// The metrics of the servers of the process.
#pragma once

#include <string>

#include "kube/net/http/http_server.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

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
