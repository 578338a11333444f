// The table of the pod firewall: which fields of a PodSpec pass under which policy.
// Tested by test/unit/core/admission/pod_firewall_test.cpp.
#pragma once

#include <span>
#include <string_view>

#include "core/policy/pod_policy.hpp"
#include "kube/base/json.hpp"

namespace liqo::core::admission {

/// True if a value of that field may pass.
using FirewallRule = bool (*)(const kube::json::value& value, const PodPolicy& policy);

/// The rule for some fields of one type.
struct FirewallRow {
  std::string_view type;
  std::string_view fields;  ///< names, one space between them
  std::string_view of;      ///< type of the objects in it; "" for scalars, and lists and maps of these
  FirewallRule rule;
  std::string_view why;  ///< follows the field's path
};

std::span<const FirewallRow> firewall_table();

}  // namespace liqo::core::admission
