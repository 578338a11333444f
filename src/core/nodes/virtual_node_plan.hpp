// The plan for one VirtualNode: its Node, and the conditions that report on both. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/nodes/node.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::core {

/// What is known of one VirtualNode that is not being deleted.
struct VirtualNodeSight {
  const kube::Object& virtual_node;
  const kube::Object* node = nullptr;  ///< the Node of its name; null = there is none
  const ProviderHealth& health;
  bool has_session = false;  ///< with the provider
  bool is_foreign = false;   ///< the Node of its name was somebody else's when it was last to be written
  std::string trouble = {};  ///< why there is no session, or none that can read; "" = there is, or none has been tried
};

namespace virtual_node_action {
/// Drain and delete the Node, which is ours and not wanted any more. Nothing else is written meanwhile.
struct Withdraw {
  bool operator==(const Withdraw&) const = default;
};
/// Make the Node schedulable again: it is wanted again while it was being withdrawn.
struct Uncordon {
  bool operator==(const Uncordon&) const = default;
};
/// Create the Node or bring it up to date (`plan_node`), then report how that went (`report_written`). If it is
/// written, and only then, the pods of the session are notified whether the Node is closed, and pods end whose owners
/// replace them elsewhere.
struct WriteNode {
  bool is_closed = false;    ///< it takes no new pods
  bool is_reported = false;  ///< the provider itself says so
  bool operator==(const WriteNode&) const = default;
};
/// There is no Node and none is wanted: another one may have its port of the kubelet API.
struct FreePort {
  bool operator==(const FreePort&) const = default;
};
/// A condition of the VirtualNode.
struct Report {
  std::string_view type, status, reason = {};  ///< constants
  std::string message = {};
  /// A view of it.
  kube::Condition condition() const { return {.type = type, .status = status, .reason = reason, .message = message}; }
  bool operator==(const Report&) const = default;
};
using Step = std::variant<Uncordon, WriteNode, FreePort, Report>;
/// The steps are due in their order, and what fails is tried again. A Node that could not be written does not keep the
/// steps after it from being taken.
struct Keep {
  std::vector<Step> steps;
  bool look_soon = false;  ///< the provider is full: whether there is room shows only if somebody asks
  bool operator==(const Keep&) const = default;
};
}  // namespace virtual_node_action

/// What to do about one VirtualNode.
using VirtualNodePlan = std::variant<virtual_node_action::Withdraw, virtual_node_action::Keep>;

/// Plans the next steps. The Node is made once there is a session with the provider, and is kept up to date without
/// one. If its name is taken, it is tried again, so that the VirtualNode reports that. A Node of somebody else is never
/// withdrawn.
VirtualNodePlan plan_virtual_node(const VirtualNodeSight& sight);

/// The condition "Node" after the Node was to be written.
virtual_node_action::Report report_written(const kube::Result<void>& written);

/// When the withdrawal or the removal of the Node began, as the VirtualNode's condition says; "" = it has not begun.
std::string_view draining_since(const kube::Object& virtual_node);

}  // namespace liqo::core
