// When the certificate that a port shows begins and ends, as alerts want to know it.
#pragma once

#include "kube/base/time.hpp"
#include "telemetry/families.hpp"

namespace liqo {

/// Shows it as the certificate of that port, by the name of the server.
inline void show_serving_certificate(kube::Metrics& metrics, const std::string& server, kube::WallTime not_before,
                                     kube::WallTime not_after) {
  const auto show = [&](const kube::MetricFamily& family, kube::WallTime time) {
    metrics.gauge(family, {{"server", server}}).set(std::chrono::duration<double>(time.time_since_epoch()).count());
  };
  show(families::serving_start, not_before);
  show(families::serving_expiry, not_after);
}

}  // namespace liqo
