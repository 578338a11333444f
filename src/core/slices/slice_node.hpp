// The virtual node that an accepted slice becomes at its consumer.
// Tested by test/unit/core/slices/objects_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the slice wants a virtual node, which it does unless it says no.
bool wants_virtual_node(const kube::Object& slice);

namespace slice_node_action {
/// The VirtualNode is as it should be.
struct Keep {};
struct Create {
  kube::Object virtual_node;
};
struct Patch {
  kube::json::object patch;  ///< merge patch with the resourceVersion
};
/// A VirtualNode of that name is somebody else's.
struct Refuse {
  std::string message;
};
}  // namespace slice_node_action

/// What to do about the VirtualNode of an accepted slice.
struct SliceNodePlan {
  std::variant<slice_node_action::Keep, slice_node_action::Create, slice_node_action::Patch, slice_node_action::Refuse>
      action;
  std::vector<std::string> dropped;  ///< parts of the provider's answer that cannot be used, for an Event
};

/// The VirtualNode of an accepted slice, with the slice's name and namespace. `existing` is the VirtualNode of that
/// name, or null. Labels and a node selector that an earlier answer set are removed when the answer no longer has them;
/// those of others stay. The answer comes from another cluster and is checked. Of its labels for the Node, those in
/// kubernetes.io and k8s.io domains are dropped, except region, zone, and a known OS and architecture. So are those in
/// `refused_labels`, keys or "domain/*", and those of features that no virtual node can declare.
SliceNodePlan plan_slice_node(const kube::Object& slice, std::string_view kubeconfig_secret,
                              const kube::Object* existing, std::span<const std::string> refused_labels = {});

/// Has the provider's zone and region (`liqo.io/zone`, `liqo.io/region`) be those of its virtual node, as if it had set
/// Kubernetes' own labels. Those that it has set stay. The place comes from another cluster, and home's scheduler
/// counts zones: only for an operator who wants it.
void take_place(kube::Object& slice);

/// Whether the VirtualNode was made of this slice.
bool is_node_of(const kube::Object& virtual_node, const kube::Object& slice);

}  // namespace liqo::core
