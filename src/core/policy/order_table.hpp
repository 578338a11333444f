// Labels and annotations of objects in twins by which controllers of this cluster take orders, and who obeys them.
// Tested by test/unit/core/policy/orders_test.cpp and test/unit/core/admission/exposure_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/policy/orders.hpp"

namespace liqo::core {

enum class Metadata : std::uint8_t { labels, annotations };

/// Who obeys a key, as a person calls it ("cert-manager"); "" = no known one.
std::string_view who_obeys(TwinKind kind, Metadata part, std::string_view key);

/// The list of the policy that allows keys of a part, and what the policy calls it.
struct AllowedKeys {
  const std::vector<std::string>& keys;
  std::string_view policy_key;
};
/// Refers to `policy`.
AllowedKeys allowed_keys(TwinKind kind, Metadata part, const PodPolicy& policy);

/// What is wrong with a key that the policy does not list; "" = nothing.
std::string why_refused(TwinKind kind, Metadata part, std::string_view key, const PodPolicy& policy);

/// Whether an annotation of a Service or an Ingress only notes what a controller of its own cluster has done.
bool is_note(std::string_view key);

/// Whether Ingress controllers, gateways and waypoints obey an annotation or a label of the Services behind them, so
/// that it may be what keeps strangers out: a login, a list of addresses, a plugin.
bool is_of_backends(std::string_view key);

}  // namespace liqo::core
