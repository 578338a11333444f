// Conditions: the list of {type, status, reason, message, lastTransitionTime} that statuses have.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"
#include "kube/base/time.hpp"

namespace liqo::core {

struct Condition {
  std::string_view type, status, reason, message;
};

/// The condition of this type, or nullptr.
const kube::json::object* find_condition(const kube::json::array& conditions, std::string_view type);
/// Likewise in a status.
const kube::json::object* find_condition(const kube::json::object& status, std::string_view type);

/// Puts the condition into the list, in place of one of its type. The transition time is that of the condition in
/// `present_status` with this type and status, else `now`.
void set_condition(kube::json::array& conditions, const kube::json::object& present_status, const Condition& wanted,
                   kube::WallTime now);

}  // namespace liqo::core
