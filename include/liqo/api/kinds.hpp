// The custom kinds of Liqo, and those of Kubernetes that only Liqo uses, as the API addresses them.
#pragma once

#include "kube/k8s/resource.hpp"

namespace liqo::api::kinds {

inline constexpr kube::Resource virtual_nodes{"offloading.liqo.io", "v1beta1", "virtualnodes", "VirtualNode"};
inline constexpr kube::Resource shadow_pods{"offloading.liqo.io", "v1beta1", "shadowpods", "ShadowPod"};
inline constexpr kube::Resource shadow_endpoint_slices{"offloading.liqo.io", "v1beta1", "shadowendpointslices",
                                                       "ShadowEndpointSlice"};
inline constexpr kube::Resource namespace_maps{"offloading.liqo.io", "v1beta1", "namespacemaps", "NamespaceMap"};
inline constexpr kube::Resource namespace_offloadings{"offloading.liqo.io", "v1beta1", "namespaceoffloadings",
                                                      "NamespaceOffloading"};
inline constexpr kube::Resource quotas{"offloading.liqo.io", "v1beta1", "quotas", "Quota"};
inline constexpr kube::Resource vk_options_templates{"offloading.liqo.io", "v1beta1", "vkoptionstemplates",
                                                     "VkOptionsTemplate"};
inline constexpr kube::Resource foreign_clusters{"core.liqo.io", "v1beta1", "foreignclusters", "ForeignCluster", false};
inline constexpr kube::Resource tenants{"authentication.liqo.io", "v1beta1", "tenants", "Tenant"};
inline constexpr kube::Resource identities{"authentication.liqo.io", "v1beta1", "identities", "Identity"};
inline constexpr kube::Resource resource_slices{"authentication.liqo.io", "v1beta1", "resourceslices", "ResourceSlice"};
inline constexpr kube::Resource renews{"authentication.liqo.io", "v1beta1", "renews", "Renew"};
inline constexpr kube::Resource ips{"ipam.liqo.io", "v1alpha1", "ips", "IP"};
inline constexpr kube::Resource networks{"ipam.liqo.io", "v1alpha1", "networks", "Network"};
inline constexpr kube::Resource configurations{"networking.liqo.io", "v1beta1", "configurations", "Configuration"};

// Kinds of Kubernetes that only Liqo uses, so that the runtime (kube) does not have them.

inline constexpr kube::Resource roles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
inline constexpr kube::Resource role_bindings{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"};
inline constexpr kube::Resource cluster_roles{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false};
inline constexpr kube::Resource cluster_role_bindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings",
                                                      "ClusterRoleBinding", false};

inline constexpr kube::Resource endpoint_slices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
inline constexpr kube::Resource service_cidrs{"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", false};
inline constexpr kube::Resource ingresses{"networking.k8s.io", "v1", "ingresses", "Ingress"};
inline constexpr kube::Resource network_policies{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"};
inline constexpr kube::Resource deployments{"apps", "v1", "deployments", "Deployment"};
inline constexpr kube::Resource evictions{"policy", "v1", "evictions", "Eviction"};
inline constexpr kube::Resource disruption_budgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};
inline constexpr kube::Resource runtime_classes{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false};
inline constexpr kube::Resource limit_ranges{"", "v1", "limitranges", "LimitRange"};
inline constexpr kube::Resource resource_quotas{"", "v1", "resourcequotas", "ResourceQuota"};
inline constexpr kube::Resource trust_bundles{"certificates.k8s.io", "v1", "clustertrustbundles", "ClusterTrustBundle",
                                              false};
/// The same in Kubernetes before 1.37, where it is off unless somebody switches it on.
inline constexpr kube::Resource trust_bundles_beta{"certificates.k8s.io", "v1beta1", "clustertrustbundles",
                                                   "ClusterTrustBundle", false};
inline constexpr kube::Resource pod_certificate_requests{"certificates.k8s.io", "v1", "podcertificaterequests",
                                                         "PodCertificateRequest"};
inline constexpr kube::Resource claims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
inline constexpr kube::Resource volumes{"", "v1", "persistentvolumes", "PersistentVolume", false};
inline constexpr kube::Resource storage_classes{"storage.k8s.io", "v1", "storageclasses", "StorageClass", false};
inline constexpr kube::Resource custom_resource_definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                            "CustomResourceDefinition", false};
inline constexpr kube::Resource api_services{"apiregistration.k8s.io", "v1", "apiservices", "APIService", false};
inline constexpr kube::Resource mutating_configurations{
    "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false};
inline constexpr kube::Resource validating_configurations{
    "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false};

}  // namespace liqo::api::kinds
