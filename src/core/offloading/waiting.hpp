// A pod that waits for nothing but a virtual node whose provider takes no new pods.
// Tested by test/unit/core/offloading/waiting_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Why a Node takes no new pods, as its taint has it (`closed_word`); "" if it takes them.
std::string_view closed_word_of(const kube::Object& node);

/// A virtual node that is closed.
struct ClosedNode {
  std::string name;
  std::string cluster;  ///< its provider
  std::string why;      ///< closed_word_of()
  bool operator==(const ClosedNode&) const = default;
};

/// The closed node that would have the pod if it were open: the pod has no node, labels, affinity, taints and size let
/// it there, and onto none of the virtual nodes that are open. Nothing if there is none, or if something else keeps the
/// pod, or may. That is so if it is gated, deleted or not looked at by a scheduler yet. It is also so if it asks for
/// places beside other pods or for devices, or chooses its nodes by more than some hundred entries. `nodes`: the
/// virtual ones.
std::optional<ClosedNode> awaited_node(const kube::Object& pod, const std::vector<kube::Object>& nodes);

/// Which cluster has closed the node, and why: "cluster milan has cordoned node batch".
std::string why_in_words(const ClosedNode& node);
/// For the pod's owner: which cluster has closed the node, why, and what the pod waits for.
std::string closed_in_words(const ClosedNode& node);

}  // namespace liqo::core
