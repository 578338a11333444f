// Metrics for alerts: from when to when the certificate of a port is valid.
#pragma once

#include "kube/base/time.hpp"
#include "telemetry/families.hpp"

namespace liqo {

/// Sets the metrics of a port's certificate; `server`: the name of the server that listens there.
inline void show_serving_certificate(kube::Metrics& metrics, const std::string& server, kube::WallTime not_before,
                                     kube::WallTime not_after) {
  const auto show = [&](const kube::MetricFamily& family, kube::WallTime time) {
    metrics.gauge(family, {{"server", server}}).set(std::chrono::duration<double>(time.time_since_epoch()).count());
  };
  show(families::serving_start, not_before);
  show(families::serving_expiry, not_after);
}

}  // namespace liqo
