// A ResourceQuota in a twin, whatever it bounds.
// Tested by test/unit/core/namespaces/twin_quota_test.cpp and test/unit/core/namespaces/twin_pod_bounds_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The amounts in `spec.hard`; empty if they cannot be read.
Resources hard_of(const kube::Object& quota);

/// The ResourceQuota to create in the consumer's twin, with these amounts.
kube::Object forge_resource_quota(const kube::ObjectKey& key, std::string_view consumer, const Resources& hard);

/// JSON merge patch that gives an existing one the marks of the consumer's and these amounts, and removes those that
/// `is_over` names; nothing if it is so already.
std::optional<kube::json::object> plan_resource_quota(const kube::Object& quota, std::string_view consumer,
                                                      const Resources& hard,
                                                      const std::function<bool(std::string_view name)>& is_over);

}  // namespace liqo::core
