// Names of the wire: users, roles, taints, classes, field managers, and the objects of the chart.
#pragma once

#include <string_view>

namespace liqo::api {

/// The group of certificates that consumers hold for their control plane, and of peering users: the organization (O) of
/// the subject.
inline constexpr std::string_view control_plane_group = "liqo.io";
/// What the names of peering users begin with; the consumer's cluster ID follows.
inline constexpr std::string_view peering_user_prefix = "liqo-peer-user-";
/// Field managers of server-side apply.
inline constexpr std::string_view reflection_manager = "reflection.liqo.io";
inline constexpr std::string_view endpoint_slice_field_manager = "shadow-endpointslice-controller";
/// The taint of virtual nodes: value "true", effect NoExecute.
inline constexpr std::string_view virtual_node_taint = "virtual-node.liqo.io/not-allowed";
/// Ours alone, with effect NoSchedule: the provider takes no new pods through the node; the value says why.
inline constexpr std::string_view closed_taint = "virtual-node.liqo.io/closed";
/// The rights of a consumer in each of its twin namespaces.
inline constexpr std::string_view remote_role = "liqo-virtual-kubelet-remote";
/// RuntimeClass that only selects virtual nodes; means nothing on the provider.
inline constexpr std::string_view liqo_runtime_class = "liqo";
/// The provisioner of StorageClass liqo.
inline constexpr std::string_view storage_provisioner = "liqo.io/storage";
inline constexpr std::string_view root_ca_name = "kube-root-ca.crt";
/// Both webhook configurations, and the Secret with the certificate of the webhooks, in Liqo's namespace.
inline constexpr std::string_view webhook_configuration = "liqo-webhook";
inline constexpr std::string_view webhook_certificate_secret = "liqo-webhook-certs";
/// The ClusterRole of the chart to which the APIService of the metric agent belongs. The chart creates it only with
/// metricAgent.enabled. It owns the APIService, so that Kubernetes removes both together, even if liqod does not run
/// any more.
inline constexpr std::string_view metric_agent_role = "liqo-liqod-metric-agent";
/// The ServiceAccount of the chart, in Liqo's namespace, as which the metric agent asks kubelets: it may do nothing
/// else.
inline constexpr std::string_view metric_agent_account = "liqo-metric-agent";
/// The Secret with the certificate of the metric agent, in Liqo's namespace.
inline constexpr std::string_view metric_agent_secret = "liqo-metric-agent-certs";
/// The Service of the chart before the port of liqod's metrics, in Liqo's namespace.
inline constexpr std::string_view metrics_service = "liqod-metrics";

}  // namespace liqo::api
