// Rules for the labels and annotations of what a consumer writes into its twins: those by which controllers of this
// cluster take orders need the policy's word.
// Tested by test/unit/core/admission/orders_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/core/admission/pod_firewall.hpp"
#include "liqo/core/admission/pod_policy.hpp"
#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// The kinds whose metadata is looked at. That of pods has rules of its own (pod_metadata.hpp).
enum class TwinKind : std::uint8_t { secret, config_map, claim, service, ingress };

/// The kind by the plural of its resource; nullopt where metadata gives no orders.
std::optional<TwinKind> twin_kind(std::string_view plural);

/// The labels and annotations of the object that a controller here would obey, unless the policy lists them
/// (`objectLabels`; `objectAnnotations`, `serviceAnnotations` or `ingressAnnotations`) or the stored object has them
/// with the same value. With `strictMetadata` also those that nobody knows. Stops after `max_found`.
std::vector<Finding> find_orders(const Request& request, TwinKind kind, const PodPolicy& policy, std::size_t max_found);

/// Rule for the metadata of a Secret or ConfigMap that a consumer writes into a namespace of `consumer` ("" where it is
/// nobody's); everybody else passes.
Answer check_orders(const Request& request, std::string_view consumer, TwinKind kind, const PodPolicy& policy);

/// Takes out of the metadata of a copy at home what would be an order at the provider, unless `kept` lists its key:
/// from Secrets, ConfigMaps and claims. Services and Ingresses go out with all keys, because they are exposed by them.
void leave_at_home(json::object& metadata, TwinKind kind, const std::vector<std::string>& kept);

/// Takes out of the metadata of a copy what a controller of home has only noted for itself on a Service or an Ingress,
/// such as the address that it gave; answers the keys. A provider may refuse them, and nothing is lost without.
std::vector<std::string> take_out_notes(json::object& metadata);

/// Takes the keys that are orders out of the templates of claims in a pod, unless the policy lists them; answers their
/// names.
std::vector<std::string> leave_out_orders(json::object& pod_spec, const PodPolicy& policy);

}  // namespace liqo::core::admission
