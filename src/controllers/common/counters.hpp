// Metrics of reflection: how often objects of one kind and namespace were written at a provider.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {

/// The labels of one series: a kind (such as `Pod`), a namespace at home, and the virtual node that writes the objects
/// at its provider, or the node that decides for that provider.
struct ReflectionSeries {
  kube::Metrics& metrics;
  std::string_view ns, kind;
  const core::ForgingContext& forging;

  kube::Labels labels() const {
    return {{"namespace", std::string(ns)},
            {"reflector_resource", std::string(kind)},
            {"cluster_id", forging.clusters.remote},
            {"node_name", forging.node_name}};
  }
};

/// Counters with the names and labels of the Go version. A series is made when there is something to count, because
/// many namespaces have nothing. It goes when no virtual node reflects that namespace any more. One thread.
class ReflectionCounters {
 public:
  void add_reflected(const ReflectionSeries& series) { made(series).reflected.add(); }
  void add_failed(const ReflectionSeries& series) { made(series).failed.add(); }

 private:
  struct Made {
    kube::Counter reflected, failed;
  };
  /// Makes both counters of a series at once, so that "no failures" is shown as 0.
  Made& made(const ReflectionSeries& series) {
    if (!made_) {
      const kube::Labels labels = series.labels();
      made_ = std::make_unique<Made>(Made{.reflected = series.metrics.counter(families::reflected, labels),
                                          .failed = series.metrics.counter(families::reflection_errors, labels)});
    }
    return *made_;
  }
  std::unique_ptr<Made> made_;
};

}  // namespace liqo::controllers
