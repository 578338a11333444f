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

/// The pods of a node in a cache, which may have gone when the next one is asked for.
struct CachedPods {
  std::vector<kube::ObjectKey> keys;
  std::function<std::optional<kube::Object>(const kube::ObjectKey&)> find;
  std::function<std::string(const kube::ObjectKey&)> uid;  ///< "" = there is no such pod; costs less than find
  std::function<bool()> is_there;  ///< false once the cache has gone: a pod that is not found may be there
};
/// Failures: one sentence, answered with 503.
using PodsOfNode = std::function<kube::Result<CachedPods>(const std::string& node)>;

}  // namespace liqo::kubelet
