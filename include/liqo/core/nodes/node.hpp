// From a VirtualNode to its Node, and what has to be written when either side changed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

/// What the process itself contributes to every Node.
struct NodeContext {
  std::string node_ip;                 ///< InternalIP; "" = none
  std::uint16_t kubelet_port = 10250;  ///< of the node that is written
  std::string kubelet_version;         ///< e.g. "v1.35.4"
  std::string architecture = "amd64";  ///< where neither the provider nor the operator says another one
  /// What the operator wants on every virtual node; a VirtualNode's own labels and annotations win over it.
  std::map<std::string, std::string> extra_labels, extra_annotations;
};

/// How custom resources are reflected to a provider, all together.
struct CustomState {
  enum class Reflected { yes, no, unknown } reflected = Reflected::unknown;
  std::string message;  ///< a sentence
  bool operator==(const CustomState&) const = default;
};

/// What is known about the provider, from our own probes and from the ForeignCluster.
struct ProviderHealth {
  /// Probes that failed in a row, 0 after a success. The node stops being Ready at `failure_threshold`.
  int failed_probes = 0;
  int failure_threshold = 3;
  bool probed = false;     ///< at least one probe has an answer
  std::string version;     ///< of its Kubernetes, as its API server says (`server_version`); "" = not known
  std::string last_error;  ///< of the last failed probe
  std::string refusal;     ///< why there is no session with it, a sentence; "" = there is one
  std::string closed;      ///< why it takes no new pods through the node (`why_closed`); "" = it does
  /// Whether the custom resources that are configured are reflected; unset: there are none.
  std::optional<CustomState> custom = std::nullopt;
  /// The network module: not looked at (no module, or disableNetworkCheck), or its state.
  enum class Network { unchecked, up, down } network = Network::unchecked;
};

/// `gitVersion` of what an API server answers at /version, e.g. "v1.35.4+k3s1"; "" where it is none: a provider may
/// answer anything, and people see this in lists of nodes.
std::string server_version(std::string_view answer);

/// The state of the network module as a ForeignCluster, which may be null, tells it: its condition
/// `NetworkConnectionStatus`. Where that is not there, or no module is enabled, nobody looks at the network.
ProviderHealth::Network network_state(const kube::Object* foreign_cluster);

/// What a Node is made of.
struct NodeSources {
  const api::VirtualNode& virtual_node;
  const ProviderHealth& health;
  const NodeContext& ctx;
};

/// The Node to create. `metadata`, `spec.taints` and `status` complete; needs no second write.
kube::Object forge_node(const NodeSources& of, kube::WallTime now);

/// Why this Node is none of ours to write, a sentence that says what to do; "" = it is: it has the label of virtual
/// nodes or our annotation, and no machine's kubelet or cloud controller has made it that of a machine.
std::string why_foreign(const kube::Object& node);

/// What the Node says itself of not being Ready; "" = it is.
std::string unready_reason(const kube::Object& node);

/// Two requests, of which none, one or both may be due: the status of a Node is written by itself.
struct NodeUpdate {
  /// `why_foreign`: nothing may be written.
  std::string refusal;
  /// JSON merge patch for nodes/<name>: labels, annotations, taints. Carries the resourceVersion (409 = look again).
  std::optional<kube::json::object> metadata;
  /// Strategic merge patch for nodes/<name>/status.
  std::optional<kube::json::object> status;
};

/// What to write so that the Node is as the VirtualNode wants it. Entries of others (labels, taints, conditions) stay;
/// what an earlier VirtualNode asked for and this one does not goes, also resources. Heartbeat times alone are worth a
/// write only every `heartbeat`.
NodeUpdate plan_node_update(const kube::Object& node, const NodeSources& of, kube::WallTime now,
                            std::chrono::seconds heartbeat = std::chrono::minutes(5));

}  // namespace liqo::core
