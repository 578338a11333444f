// Finalizers, by which an object waits for what is left to do.
#pragma once

#include <string_view>

namespace liqo::api {

namespace finalizers {
inline constexpr std::string_view tenant = "tenant.liqo.io/finalizer";
inline constexpr std::string_view virtual_node = "virtualnode-controller.liqo.io/finalizer";
/// On a consumer's ResourceSlice: holds it, and so its identity, until its virtual nodes are drained.
inline constexpr std::string_view resource_slice = "resourceslice-virtualnode.liqo.io/finalizer";
/// On the RoleBinding by which liqod reads the Secrets of a tenant namespace: holds it while credentials are guarded.
inline constexpr std::string_view tenant_namespace = "tenantnamespace-controller.liqo.io/finalizer";
inline constexpr std::string_view namespace_map = "namespacemap-controller.liqo.io/finalizer";
inline constexpr std::string_view namespace_offloading = "namespaceoffloading-controller.liqo.io/finalizer";
inline constexpr std::string_view replicated_object = "crdreplicator.liqo.io/resource";
inline constexpr std::string_view replication_credentials = "crdreplicator.liqo.io/operator";
/// On a provider's pod that does not restart always, ours alone: holds what is left of it until its ShadowPod says how
/// it ended.
inline constexpr std::string_view shadow_pod_tracking = "shadowpod.offloading.liqo.io/tracking";
/// Ours alone, on a claim of class liqo while its volume is being made: holds it until what was made so far is removed.
inline constexpr std::string_view storage_provisioning = "storage.liqo.io/provisioning";
inline constexpr std::string_view api_server_checker = "api-server-checker.liqo.io/finalizer";  ///< of the Go version
}  // namespace finalizers

}  // namespace liqo::api
