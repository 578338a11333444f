// The memory of a provider about all ShadowPods.
#pragma once

#include <unordered_map>

#include "core/offloading/order_memory.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::controllers {

/// Entries by the key of the ShadowPod. Only the reconcile of that ShadowPod adds and removes its entry, and looks it
/// up again after each await.
using OrderMemories = std::unordered_map<kube::ObjectKey, core::OrderMemory>;

}  // namespace liqo::controllers
