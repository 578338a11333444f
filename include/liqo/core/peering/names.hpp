// The names of the objects and identities of a peering, as both clusters and the command line know them.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// Fixed names of Secrets and ConfigMaps; the first two are in Liqo's namespace, the others in tenant namespaces.
inline constexpr std::string_view cluster_keys_secret = "authentication-keys";
inline constexpr std::string_view cluster_id_config_map = "liqo-clusterid-configmap";
/// Keys of that ConfigMap: which cluster it is, and in which ranges its pods have their addresses ("10.2.0.0/16,...").
inline constexpr std::string_view cluster_id_key = "CLUSTER_ID";
inline constexpr std::string_view pod_cidrs_key = "POD_CIDRS";
inline constexpr std::string_view nonce_secret = "liqo-nonce";
inline constexpr std::string_view signed_nonce_secret = "liqo-signed-nonce";

/// ClusterRoles that a provider binds to its consumers (`remote_…`), and those that let liqod itself work in a tenant
/// namespace and in an offloaded namespace (`own_…`).
inline constexpr std::string_view remote_control_plane_role = "liqo-remote-controlplane";
inline constexpr std::string_view remote_cluster_wide_role = "liqo-virtual-kubelet-remote-clusterwide";
inline constexpr std::string_view own_tenant_role = "liqo-liqod-tenant";
inline constexpr std::string_view own_offloaded_role = "liqo-liqod-offloaded";

/// Organization of every ControlPlane and peering-user certificate.
inline constexpr std::string_view control_plane_organization = "liqo.io";

/// True for a DNS label of at most 51 characters: "liqo-tenant-<id>" must be the name of a namespace.
bool is_cluster_id(std::string_view text);

/// "liqo-tenant-<peer>"; a tenant namespace with another name is found by its labels.
std::string tenant_namespace_name(std::string_view peer);
/// "<slice>-<first 12 hex digits of SHA-256 of the consumer's ID>": common name of the slice's certificate, and name of
/// its Quota.
std::string slice_user(std::string_view slice, std::string_view consumer);
/// "controlplane-<provider>".
std::string control_plane_identity_name(std::string_view provider);
/// "resourceslice-<slice>".
std::string slice_identity_name(std::string_view slice);
/// "kubeconfig-<identity>".
std::string kubeconfig_secret_name(std::string_view identity);
/// "liqo-remote-certificate" for the ControlPlane certificate (`slice` ""), else "liqo-remote-certificate-<slice>".
std::string certificate_secret_name(std::string_view slice);
/// "liqo-binding-<role>" in a tenant namespace, "liqo-binding-<role>-<consumer>" cluster-wide.
std::string role_binding_name(std::string_view role);
std::string cluster_role_binding_name(std::string_view role, std::string_view consumer);

}  // namespace liqo::core
