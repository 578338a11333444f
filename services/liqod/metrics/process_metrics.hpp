// The metrics of the process itself.
#pragma once

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

}  // namespace liqod
