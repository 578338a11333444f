// What a provider remembers of all ShadowPods.
#pragma once

#include <unordered_map>

#include "core/offloading/order_memory.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::controllers {

/// By the key of the ShadowPod. Only its reconcile adds and removes an entry; it is looked up again after each await.
using OrderMemories = std::unordered_map<kube::ObjectKey, core::OrderMemory>;

}  // namespace liqo::controllers
