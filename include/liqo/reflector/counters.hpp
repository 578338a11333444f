// How often objects of one kind and namespace were brought to a provider.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "liqo/core/forge/context.hpp"
#include "liqo/telemetry/families.hpp"

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

/// Under the names and labels of the Go version. Each series is made when there is something to count, as there are
/// many namespaces in which there is not, and goes when nobody reflects that namespace any more. One thread.
class ReflectionCounters {
 public:
  void add_reflected(const ReflectionSeries& series) { add(reflected_, families::reflected, series); }
  void add_failed(const ReflectionSeries& series) { add(failed_, families::reflection_errors, series); }

 private:
  static void add(std::optional<kube::Counter>& counter, const kube::MetricFamily& family,
                  const ReflectionSeries& series) {
    if (!counter) counter = series.metrics.counter(family, series.labels());
    counter->add();
  }
  std::optional<kube::Counter> reflected_, failed_;
};

}  // namespace liqo::reflector
