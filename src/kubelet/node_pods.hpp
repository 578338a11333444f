// The pods that are bound to a virtual node, as a cache has them.
// Tested by test/unit/kubelet/node_api_test.cpp.
// Tested by test/unit/kubelet/usage_api_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::kubelet {

/// The pods of a node in a cache that may be gone when the next pod is looked up.
struct CachedPods {
  std::vector<kube::ObjectKey> keys;
  std::function<std::optional<kube::Object>(const kube::ObjectKey&)> find;
  std::function<std::string(const kube::ObjectKey&)> uid;  ///< "" = there is no such pod; costs less than find
  std::function<bool()> is_there;  ///< false once the cache is gone: a pod that is not found may exist
};
/// Finds the pods of a node. Failures: one sentence, answered with 503.
using PodsOfNode = std::function<kube::Result<CachedPods>(const std::string& node)>;

}  // namespace liqo::kubelet
