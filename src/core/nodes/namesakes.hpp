// VirtualNodes of one name in several namespaces: one of them has the Node of that name.
// Tested by test/unit/core/nodes/virtual_node_plan_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/nodes/virtual_node_plan.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Reason of the conditions and Events of a VirtualNode whose Node is another one's.
inline constexpr std::string_view name_taken = "NodeNameTaken";

/// Whether `one` of two VirtualNodes of the same name has the Node and the session, and `other` stands aside. The older
/// one has them. Of two that were created in the same second, the one whose UID comes first has them.
bool comes_first(const kube::Object& one, const kube::Object& other);

/// Why a VirtualNode stands aside for an `older` one, and what to do: a sentence.
std::string name_taken_text(const kube::Object& older);

/// The conditions of a VirtualNode that stands aside. `left`: how many ShadowPods it still has at its provider, or why
/// that is not known.
std::vector<virtual_node_action::Report> report_standing_aside(const kube::Object& older,
                                                               const kube::Result<std::size_t>& left);

}  // namespace liqo::core
