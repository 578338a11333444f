// Labels that both clusters and other tools read.
#pragma once

#include <string_view>

namespace liqo::api {

namespace labels {
/// Cluster that an object is about; on a twin namespace of a provider: the consumer.
inline constexpr std::string_view remote_cluster_id = "liqo.io/remote-cluster-id";
inline constexpr std::string_view replication = "liqo.io/replication";  ///< "true": to be copied to the other cluster
/// On what is to be copied to the other cluster: the ID of that cluster.
inline constexpr std::string_view replication_destination = "liqo.io/remoteID";
/// On a copy from the other cluster: the ID of that cluster, as it wrote it.
inline constexpr std::string_view replication_origin = "liqo.io/originID";
inline constexpr std::string_view replicated = "liqo.io/replicated";      ///< "true": a copy from the other cluster
inline constexpr std::string_view creator_user = "liqo.io/creator-user";  ///< stamped by the provider's admission
/// Both on every reflected object, with the IDs of the consumer and the provider.
inline constexpr std::string_view reflection_origin = "offloading.liqo.io/origin";
inline constexpr std::string_view reflection_destination = "offloading.liqo.io/destination";
/// Virtual node that a ShadowPod, its pod, or a token Secret belongs to.
inline constexpr std::string_view node_name = "offloading.liqo.io/nodename";
/// On a provider's objects that were made of a consumer's: of which kind.
inline constexpr std::string_view managed_by = "liqo.io/managed-by";
inline constexpr std::string_view managed_by_shadow_pod = "shadowpod";
/// On a Pod at a provider: the UID of the ShadowPod that it was made for.
inline constexpr std::string_view shadow_pod_uid = "offloading.liqo.io/shadowpod-uid";
inline constexpr std::string_view managed_by_shadow_endpoint_slice = "shadowendpointslice";
/// Of Kubernetes: which controller keeps an EndpointSlice.
inline constexpr std::string_view endpoint_slice_manager = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view endpoint_slice_manager_liqo = "endpointslice.reflection.liqo.io";
/// Of Kubernetes: whose endpoints an EndpointSlice has.
inline constexpr std::string_view service_name = "kubernetes.io/service-name";
inline constexpr std::string_view local_pod = "liqo.io/shadowPod";  ///< "true" on a consumer's pod that is offloaded
inline constexpr std::string_view local_pod_of_go = "liqo.io/local-pod";  ///< the same, of versions in Go
inline constexpr std::string_view remote_unavailable =
    "liqo.io/remote-unavailable";  ///< "true": virtual node not ready
/// On the node labels of a slice, and so on a virtual Node, "true": pods there resolve names of Services with the names
/// that namespaces have at home (core/common/home_names.hpp).
inline constexpr std::string_view home_names = "liqo.io/home-names";
/// On the node labels of a slice, and so on a virtual Node: the zone and the region that all nodes of the provider
/// have. Kubernetes knows them by other names, by which home's own pods would be placed.
inline constexpr std::string_view provider_zone = "liqo.io/zone";
inline constexpr std::string_view provider_region = "liqo.io/region";
inline constexpr std::string_view type = "liqo.io/type";
inline constexpr std::string_view type_virtual_node = "virtual-node";
/// On a virtual Node, "true" or "false": whether its provider offers storage classes.
inline constexpr std::string_view storage_available = "storage.liqo.io/available";
/// On a backing claim in this cluster: the claim of class liqo whose data it holds.
inline constexpr std::string_view virtual_claim_namespace = "storage.liqo.io/virtual-pvc-namespace";
inline constexpr std::string_view virtual_claim_name = "storage.liqo.io/virtual-pvc-name";
inline constexpr std::string_view storage_provisioner = "liqo.io/storage-provisioner";  ///< "true": has real claims
/// On a Secret with the tokens of a pod: its service account, or a digest of a name that is no value of a label.
inline constexpr std::string_view service_account_name = "offloading.liqo.io/service-account-name";
/// On a ConfigMap in a twin, the consumer's ID: it holds trust bundles of that cluster for pods.
inline constexpr std::string_view trust_of_home = "offloading.liqo.io/trust-of-home";
inline constexpr std::string_view ip_type = "ipam.liqo.io/ip-type";
inline constexpr std::string_view ip_type_api_server = "api-server";
inline constexpr std::string_view tenant_namespace = "liqo.io/tenant-namespace";
inline constexpr std::string_view ownership = "liqo.io/ownership";  ///< of the Go version; stays at home
/// On a kubeconfig Secret: what it is for.
inline constexpr std::string_view identity_type = "liqo.io/identity-type";
inline constexpr std::string_view scheduling_enabled = "liqo.io/scheduling-enabled";
inline constexpr std::string_view nonce = "liqo.io/nonce";                ///< "true" on the provider's nonce Secret
inline constexpr std::string_view signed_nonce = "liqo.io/signed-nonce";  ///< "true" on the consumer's answer to it
inline constexpr std::string_view resource_slice_name = "liqo.io/resourceslice-name";
inline constexpr std::string_view remote_tenant_csr = "liqo.io/remote-tenant-csr";  ///< "true" on signing requests
inline constexpr std::string_view app_managed_by = "app.kubernetes.io/managed-by";
inline constexpr std::string_view app_managed_by_liqo = "liqo";
inline constexpr std::string_view app_name = "app.kubernetes.io/name";
/// "true" on webhook configurations, and on the Secrets with the certificates by which API servers call this program.
inline constexpr std::string_view webhook = "liqo.io/webhook";
inline constexpr std::string_view ledger = "liqo.io/ledger";  ///< "true" on the record of a Quota's reservations
inline constexpr std::string_view webhook_skip = "liqo.io/webhook-skip";  ///< "true": some webhooks are not called
/// Of Kubernetes: what the pods of a namespace may ask for.
inline constexpr std::string_view pod_security = "pod-security.kubernetes.io/enforce";
}  // namespace labels

}  // namespace liqo::api
