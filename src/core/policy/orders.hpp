// Labels and annotations of objects in twins by which controllers of a cluster take orders: what is left out of them.
// check_orders.hpp has the rules for what a consumer writes into its twins.
// Tested by test/unit/core/policy/orders_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/pod_policy.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {

/// The kinds whose metadata is looked at. That of pods has rules of its own (pod_metadata.hpp).
enum class TwinKind : std::uint8_t { secret, config_map, claim, service, ingress };

/// The kind by the plural of its resource; nullopt if its metadata gives no orders.
std::optional<TwinKind> twin_kind(std::string_view plural);

/// Takes out of the metadata of a copy at home what would be an order at the provider, unless `kept` lists its key:
/// from Secrets, ConfigMaps and claims. Services and Ingresses go out with all keys, because they are exposed by them.
void leave_at_home(kube::json::object& metadata, TwinKind kind, const std::vector<std::string>& kept);

/// Takes out of the metadata of a copy what a controller of home has only noted for itself on a Service or an Ingress,
/// such as the address that it gave; returns the keys. A provider may refuse them, and nothing is lost without.
std::vector<std::string> take_out_notes(kube::json::object& metadata);

/// Takes the keys that are orders out of the templates of claims in a pod, unless the policy lists them; returns their
/// names.
std::vector<std::string> leave_out_orders(kube::json::object& pod_spec, const PodPolicy& policy);

}  // namespace liqo::core
