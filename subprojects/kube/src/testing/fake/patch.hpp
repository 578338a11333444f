// The four kinds of patch, as functions on trees: JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge patch
// and a simplified server-side apply.
#pragma once

#include <string_view>

#include "kube/testing/fake/status.hpp"

namespace kube::testing {

/// RFC 7386: null removes, objects merge, everything else replaces.
void merge_patch(json::value& target, const json::value& patch);

/// RFC 6902, all six operations. Errors: 422 (also for a `test` that does not hold), 400 for what is no patch.
/// On an error the target may be half changed: patch a copy.
Answer<> json_patch(json::value& target, const json::value& patch);

/// Merge with the merge keys of pods, nodes and the other built-in kinds (containers by name, conditions by type, ...),
/// `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/` and `$setElementOrder/` (the last is ignored).
void strategic_merge(json::object& target, const json::object& patch);

/// Applies `config`: what it names is set; what `previous` (the manager's last configuration) named and `config` does
/// not is removed. Lists with merge keys are merged by element if `built_in`; a custom resource's lists are atomic.
void apply_configuration(json::object& target, const json::object& config, const json::object& previous, bool built_in);

/// The first field that both configurations name with different values, as a path: what two managers of server-side
/// apply conflict about. "" if they agree.
std::string disagreement(const json::object& config, const json::object& other, bool built_in);

/// The key that elements of this list are merged by in a built-in kind; "" for an atomic list, "." for a set of
/// primitives. Decided by the field's name and, if names clash, by the one above it.
std::string_view merge_key(std::string_view parent, std::string_view field);

}  // namespace kube::testing
