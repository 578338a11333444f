// From a VirtualNode to its Node, and what has to be written when either side changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "core/offloading/capacity.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

/// The settings of this process that every Node gets.
struct NodeContext {
  std::string node_ip;                 ///< InternalIP; "" = none
  std::uint16_t kubelet_port = 10250;  ///< of the Node that is written
  std::string kubelet_version;         ///< e.g. "v1.35.4"
  std::string architecture = "amd64";  ///< unless the provider or the operator names another one
  /// The operator's labels and annotations for every virtual node; those of a VirtualNode take precedence.
  std::map<std::string, std::string> extra_labels, extra_annotations;
};

/// Whether all configured custom resources are reflected to a provider.
struct CustomState {
  enum class Reflected { yes, no, unknown } reflected = Reflected::unknown;
  std::string message;  ///< a sentence
  bool operator==(const CustomState&) const = default;
};

/// The state of the provider, from our own probes and from the ForeignCluster.
struct ProviderHealth {
  /// Probes that failed in a row, 0 after a success. The node stops being Ready at `failure_threshold`.
  int failed_probes = 0;
  int failure_threshold = 3;
  bool probed = false;         ///< at least one probe has succeeded or failed
  std::string version;         ///< of its Kubernetes, as its API server says (`server_version`); "" = not known
  std::string last_error;      ///< of the last failed probe
  std::string refusal;         ///< why there is no session with the provider, or none that can read, a sentence
  Closed closed = Closed::no;  ///< why the provider takes no new pods through the node
  std::string silence;         ///< what is reported of a provider that does not act, a sentence; "" = nothing
  /// Whether the custom resources that are configured are reflected; unset: there are none.
  std::optional<CustomState> custom = std::nullopt;
  /// The state of the network module; unchecked without a module, or with disableNetworkCheck.
  enum class Network { unchecked, up, down } network = Network::unchecked;
};

/// `gitVersion` in the answer of an API server at /version, e.g. "v1.35.4+k3s1"; "" if the answer has no valid one. The
/// version is checked because a provider may answer anything, and people see it in lists of nodes.
std::string server_version(std::string_view answer);

/// The state of the network module, from the condition `NetworkConnectionStatus` of a ForeignCluster, which may be
/// null; unchecked if there is no such condition or no module is enabled.
ProviderHealth::Network network_state(const kube::Object* foreign_cluster);

/// What a Node is made from.
struct NodeSources {
  const api::VirtualNode& virtual_node;
  const ProviderHealth& health;
  const NodeContext& ctx;
};

/// The Node to create, with complete `metadata`, `spec.taints` and `status`: it needs no second write.
kube::Object forge_node(const NodeSources& of, kube::WallTime now);

/// Why we must not write this Node, a sentence that says what to do; "" = it is ours. A Node is ours if it has the
/// label of virtual nodes or our annotation, and no kubelet or cloud controller has made it the Node of a machine.
std::string why_foreign(const kube::Object& node);

/// Why the Node is not Ready, in its own words; "" = it is.
std::string unready_reason(const kube::Object& node);

namespace node_action {
/// The Node is not ours: nothing may be written.
struct Refuse {
  std::string why;  ///< `why_foreign`
};
/// Both patches may be due together, because the status of a Node is written separately, or neither is.
struct Update {
  /// JSON merge patch for nodes/<name>: labels, annotations, taints. Carries the resourceVersion (409 = look again).
  std::optional<kube::json::object> metadata;
  /// Strategic merge patch for nodes/<name>/status.
  std::optional<kube::json::object> status;
};
}  // namespace node_action

/// What to do about the Node of a VirtualNode.
using NodePlan = std::variant<node_action::Refuse, node_action::Update>;

/// What to write so that the Node is as the VirtualNode wants it. Labels, taints and conditions of others stay. What
/// only an earlier state of the VirtualNode asked for is removed, also resources. Ready stays as it is until the
/// provider has been probed, or refused. A change of heartbeat times alone is written only every `heartbeat`.
NodePlan plan_node(const kube::Object& node, const NodeSources& of, kube::WallTime now,
                   std::chrono::seconds heartbeat = std::chrono::minutes(5));

}  // namespace liqo::core
