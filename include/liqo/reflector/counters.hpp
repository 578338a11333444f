// How often objects of one kind and namespace were brought to a provider.
#pragma once

#include <string>
#include <string_view>

#include "liqo/core/forge/context.hpp"
#include "liqo/telemetry/families.hpp"

namespace liqo::reflector {

/// Under the names and labels of the Go version. The series go when nobody reflects that namespace any more.
struct ReflectionCounters {
  kube::Counter reflected, failed;

  ReflectionCounters() = default;
  /// `kind`: as in `Pod`.
  ReflectionCounters(kube::Metrics& metrics, const std::string& local_namespace, std::string_view kind,
                     const core::ForgingContext& forging) {
    const kube::Labels labels{{"namespace", local_namespace},
                              {"reflector_resource", std::string(kind)},
                              {"cluster_id", forging.clusters.remote},
                              {"node_name", forging.node_name}};
    reflected = metrics.counter(families::reflected, labels);
    failed = metrics.counter(families::reflection_errors, labels);
  }
};

}  // namespace liqo::reflector
