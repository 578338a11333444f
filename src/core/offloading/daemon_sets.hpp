// DaemonSets whose pods sit on virtual nodes, and the affinity that keeps them off.
// Tested by test/unit/core/offloading/daemon_sets_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

inline constexpr kube::Resource daemon_sets{"apps", "v1", "daemonsets", "DaemonSet"};

/// Whether a virtual node with these labels gets a pod of the DaemonSet: its pods tolerate the taint of virtual nodes,
/// and nodeSelector and required node affinity take the node.
bool sits_on(const kube::Object& daemon_set, std::string_view node_name, const kube::json::object& node_labels);

/// The resources that each pod of the DaemonSet takes of its node; nothing if its amounts cannot be read.
Resources books(const kube::Object& daemon_set);

/// The DaemonSet that has made the pod, with its name and UID alone; nothing if none has.
std::optional<kube::Object> daemon_set_of(const kube::Object& pod);
/// The sentence of the Event on a DaemonSet that has pods on virtual nodes which are sent.
std::string describe_daemon_set_elsewhere(const kube::ObjectKey& daemon_set);

/// Adds to each term of the required node affinity that the node is not virtual; returns whether that changes anything.
/// A term that matches no node stays as it is, because with one more requirement it would match some.
bool keep_off_virtual_nodes(kube::Object& daemon_set);
/// Removes what keep_off_virtual_nodes() adds; returns whether that changes anything.
bool let_onto_virtual_nodes(kube::Object& daemon_set);

/// Who would soon undo a change of the DaemonSet: its owner, or the addon manager whose mark it bears, in words; "" =
/// nobody that is known.
std::string who_keeps(const kube::Object& daemon_set);

}  // namespace liqo::core
