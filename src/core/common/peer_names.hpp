// The names of the objects and identities of a peering, as both clusters and the command line know them.
// Tested by test/unit/core/peering/handshake_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace liqo::core {

/// The Secret with the cluster's keys and the ConfigMap with its ID, in Liqo's namespace.
inline constexpr std::string_view cluster_keys_secret = "authentication-keys";
inline constexpr std::string_view cluster_id_config_map = "liqo-clusterid-configmap";
/// Keys of that ConfigMap: which cluster it is, and in which ranges its pods have their addresses ("10.2.0.0/16,...").
inline constexpr std::string_view cluster_id_key = "CLUSTER_ID";
inline constexpr std::string_view pod_cidrs_key = "POD_CIDRS";
/// The Secrets with a nonce, in tenant namespaces: that of the provider, and that of the consumer, which signs it.
inline constexpr std::string_view nonce_secret = "liqo-nonce";
inline constexpr std::string_view signed_nonce_secret = "liqo-signed-nonce";

/// ClusterRoles that a provider binds to its consumers (`remote_…`), and those that let liqod itself work in a tenant
/// namespace and in an offloaded namespace, and make tokens for the pods of that (`own_…`).
inline constexpr std::string_view remote_control_plane_role = "liqo-remote-controlplane";
inline constexpr std::string_view remote_cluster_wide_role = "liqo-virtual-kubelet-remote-clusterwide";
inline constexpr std::string_view own_tenant_role = "liqo-liqod-tenant";
inline constexpr std::string_view own_offloaded_role = "liqo-liqod-offloaded";
inline constexpr std::string_view own_token_role = "liqo-liqod-tokens";

/// What the names of tenant namespaces begin with by default; no twin has such a name.
inline constexpr std::string_view tenant_namespace_prefix = "liqo-tenant-";

/// True for a DNS label of at most 51 characters: "liqo-tenant-<id>" must be the name of a namespace.
bool is_cluster_id(std::string_view text);

/// "liqo-tenant-<peer>"; a tenant namespace with another name is found by its labels.
std::string tenant_namespace_name(std::string_view peer);
/// "<slice>-<first 12 hex digits of SHA-256 of the consumer's ID>": common name of the slice's certificate, and name of
/// its Quota.
std::string slice_user(std::string_view slice, std::string_view consumer);
/// What the users of all slices of the consumer end with, and no others: "-<12 hex digits>".
std::string user_suffix(std::string_view consumer);
/// Whether the name is that of a slice's user of another consumer; a name of another form is nobody's.
bool is_user_of_another(std::string_view user, std::string_view consumer);
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
