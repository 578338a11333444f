// Looks up what LimitRanges and RuntimeClasses of this cluster add to its pods.
// Tested by test/unit/quota/quota_ledger_test.cpp, and what is made of it by test/unit/core/quota/demand_test.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/quota/pod_requests.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::quota {

/// Computes from shared caches what the API server would add to a pod. One thread.
class PodSurroundings {
 public:
  /// `home` outlives this.
  explicit PodSurroundings(kube::InformerSet& home);

  /// True once LimitRanges and RuntimeClasses are known: of() is incomplete before.
  bool has_synced() const { return limit_ranges_->has_synced() && runtime_classes_->has_synced(); }
  /// Sets handlers that are called with the namespace, or the name of the RuntimeClass, whose additions have changed.
  /// They must not suspend.
  void subscribe(std::function<void(const std::string& ns)> of_namespace,
                 std::function<void(const std::string& name)> of_runtime_class);
  /// What the namespace and the pod's RuntimeClass add to a pod with this spec.
  core::PodAdditions of(std::string_view ns, const kube::json::object& pod_spec) const;

 private:
  kube::InformerHandle limit_ranges_, runtime_classes_;
};

}  // namespace liqo::quota
