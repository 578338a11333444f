// Conditions: the list of {type, status, reason, message, lastTransitionTime} in the status of an object.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace kube {

/// What a condition says; a view of texts that others own.
struct Condition {
  std::string_view type, status;
  std::string_view reason = {}, message = {};
};

/// The condition of this type, or nullptr; it lives as long as the list.
const json::object* find_condition(const json::array& conditions, std::string_view type);
/// The condition of this type in a status, or nullptr; it lives as long as the status.
const json::object* find_condition(const json::object& status, std::string_view type);

/// Whether the object has a condition of this type with the status "True".
bool has_condition(const Object& object, std::string_view type);

/// The condition as an entry of a list, without a reason or message that is empty. The transition time is that of the
/// condition in `present` with this type and status, else `now`.
json::object forge_condition(const json::array& present, const Condition& wanted, WallTime now);

/// Puts the condition into the list, in place of one of its type. `present_status` is what the API server has: the
/// transition time comes from there.
void set_condition(json::array& conditions, const json::object& present_status, const Condition& wanted, WallTime now);

}  // namespace kube
