// Where the pods of an offloaded namespace may be scheduled: what admission changes on a pod.
#pragma once

#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {

/// The most node selector terms that a pod gets, from its own terms and those of the cluster selector.
inline constexpr std::size_t max_node_selector_terms = 1000;

/// Whether a pod, or a template of one, tolerates the taint of virtual nodes for ever.
bool tolerates_virtual_nodes(const kube::json::object& pod);

/// The JSON patch (RFC 6902) for a pod that is created in the namespace of `offloading`; empty = it stays as it is.
///
/// A pod gets the toleration of virtual nodes, unless it tolerates them already, and a required node affinity:
/// - Remote: each term of the cluster selector, on virtual nodes only; without terms every virtual node.
/// - LocalAndRemote: the terms of the cluster selector or a node that is not virtual; without terms nothing.
///
/// Each term of the pod itself is combined with each of these, so that both hold; terms that match nothing are dropped.
/// The pod's terms stay if each of them requires that already. Unchanged are: pods under the strategy Local, pods with
/// the runtime class of Liqo, pods that a DaemonSet has bound to their node, and mirror pods. `pod` is the raw tree of
/// the request, of which nothing else is changed.
///
/// Errors: Errc::invalid_input for a cluster selector that is invalid (see NodeSelector), Errc::too_large for too many
/// terms; the text says what the namespace's or the pod's owner has to change.
kube::Result<kube::json::array> plan_pod_scheduling(const kube::json::object& pod,
                                                    const api::NamespaceOffloading& offloading);

/// The JSON patch for a DaemonSet that is written in the namespace of `offloading`. Its controller looks at the
/// template, not at what admission makes of the pods, so under the strategy Remote the template gets what its pods
/// would: the toleration and the terms. Under others it stays as it is, and its pods at home. Errors: those of
/// plan_pod_scheduling().
kube::Result<kube::json::array> plan_daemon_set_scheduling(const kube::json::object& daemon_set,
                                                           const api::NamespaceOffloading& offloading);

/// The JSON patch that gives a changed pod back the toleration of virtual nodes that it had. A user who replaces the
/// list never wrote this toleration, and the API server refuses a change that removes one.
kube::json::array keep_toleration(const kube::json::object& before, const kube::json::object& after);

/// Whether the removal of a Node need not wait for the pod: a DaemonSet that tolerates everything replaces its pod on a
/// Node, even on a cordoned one, as soon as it is gone. `since`: when the removal began, RFC 3339; "" = it has not
/// begun.
bool goes_with_node(const kube::Object& pod, std::string_view since);

}  // namespace liqo::core
