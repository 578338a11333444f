// The consumer's side of a slice: what Liqo fills in, and the virtual node that an accepted one becomes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

namespace local_slice_action {
/// All is filled in.
struct Keep {};
struct Patch {
  kube::json::object patch;  ///< merge patch with the resourceVersion
};
/// It is left as it is.
struct Refuse {
  std::string message;  ///< one sentence for the user
};
}  // namespace local_slice_action

/// What is to be done with a slice that was made at home.
using LocalSlicePlan = std::variant<local_slice_action::Keep, local_slice_action::Patch, local_slice_action::Refuse>;

/// Fills in who asks, who is asked and the labels of replication, and sets the signing request (base64 of PEM) to
/// `csr`, where one is given. `provider` is the cluster of the slice's tenant namespace, "" where it is no such
/// namespace. What else is there already is never changed; what contradicts it is refused.
LocalSlicePlan plan_local_slice(const kube::Object& slice, std::string_view own_cluster, std::string_view provider,
                                std::string_view csr);

/// Whether a virtual node is wanted of the slice: unless it says no.
bool wants_virtual_node(const kube::Object& slice);

namespace slice_node_action {
/// It is as it should be.
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

struct SliceNodePlan {
  std::variant<slice_node_action::Keep, slice_node_action::Create, slice_node_action::Patch, slice_node_action::Refuse>
      action;
  std::vector<std::string> dropped;  ///< what the provider said and cannot be used, for an Event
};

/// The VirtualNode of a slice that was accepted: named as the slice and beside it. `existing` is the one of that name,
/// or null. Labels and the node selector that an earlier answer set go when they are gone from the answer; those of
/// others stay. Everything in the answer is another cluster's word and is checked: of its labels for the Node, those of
/// kubernetes.io and k8s.io domains are dropped (but region, zone, and a known OS and architecture), and those in
/// `refused_labels`, keys or "domain/*".
SliceNodePlan plan_slice_node(const kube::Object& slice, std::string_view kubeconfig_secret,
                              const kube::Object* existing, std::span<const std::string> refused_labels = {});

/// Whether the VirtualNode was made of this slice.
bool is_node_of(const kube::Object& virtual_node, const kube::Object& slice);

}  // namespace liqo::core
