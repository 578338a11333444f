// How often objects of one kind and namespace were brought to a provider.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "telemetry/families.hpp"

namespace liqo::reflector {

/// What is counted: objects of one kind (as in `Pod`) and namespace at home that one virtual node, or the one that
/// decides for its provider, brings there.
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

/// Under the names and labels of the Go version. The series are made when there is something to count, as there are
/// many namespaces in which there is not, and go when nobody reflects that namespace any more. One thread.
class ReflectionCounters {
 public:
  void add_reflected(const ReflectionSeries& series) { made(series).reflected.add(); }
  void add_failed(const ReflectionSeries& series) { made(series).failed.add(); }

 private:
  struct Made {
    kube::Counter reflected, failed;
  };
  /// Both at once: that nothing has failed is shown as 0.
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

}  // namespace liqo::reflector
