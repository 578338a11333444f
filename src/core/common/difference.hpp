// The difference of two objects as a JSON merge patch (RFC 7386).
// Tested by test/unit/core/slices/objects_test.cpp and test/unit/core/nodes/node_test.cpp.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// The merge patch that makes `have` into `want`; empty if they are equal. Arrays are replaced as a whole, and null
/// equals an absent member, as for an API server. Amounts in members called `resources` are equal if their values are,
/// and then keep their spelling.
kube::json::object difference(const kube::json::object& have, const kube::json::object& want);

/// Whether both are one amount of a resource, whatever its spelling ("1" and "1000m"), or equal otherwise.
bool is_same_amount(const kube::json::value& have, const kube::json::value& want);

/// The entries of `want` that `have` lacks, or has with another value.
kube::json::object changed_entries(const kube::json::object& have, const kube::json::object& want);

/// The entries of `want` that `have` lacks, or has with another value, and null for each entry that only `have` has and
/// that `removes` names by its key.
template <class Removes>
kube::json::object changed_entries(const kube::json::object& have, const kube::json::object& want,
                                   const Removes& removes) {
  kube::json::object patch = changed_entries(have, want);
  for (const auto& [key, value] : have)
    if (!want.contains(key) && removes(std::string_view(key))) patch[key] = nullptr;
  return patch;
}

}  // namespace liqo::core
