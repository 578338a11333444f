// Reasons of conditions and Events, and the types of conditions of Pods and Nodes.
#pragma once

#include <string_view>

namespace liqo::api {

namespace reasons {
inline constexpr std::string_view offloading_back_off = "OffloadingBackOff";  ///< rejected, phase Pending
inline constexpr std::string_view offloading_aborted = "OffloadingAborted";   ///< rejected, phase Failed
inline constexpr std::string_view remote_terminated = "RemotePodTerminated";  ///< finished remotely, pod gone
inline constexpr std::string_view remote_lost = "RemotePodLost";              ///< gone, and may not run again
inline constexpr std::string_view node_failed = "NodeFailed";                 ///< deleted by force at the provider
inline constexpr std::string_view remote_stuck = "RemotePodStuck";            ///< was deleted and does not end
inline constexpr std::string_view remote_missing = "RemotePodMissing";        ///< gone, will be re-created
inline constexpr std::string_view address_unknown =
    "AddressUnknown";  ///< the address of the home API server is not known
inline constexpr std::string_view remote_not_ready = "RemotePodNotReady";  ///< with the provider's warning
inline constexpr std::string_view remote_warning = "RemoteWarning";        ///< the provider's warning about a copy
inline constexpr std::string_view remote_unavailable = "RemoteClusterUnavailable";
inline constexpr std::string_view offloading_refused = "OffloadingRefused";  ///< the provider refused the ShadowPod
inline constexpr std::string_view failed_reflection = "FailedReflection";
inline constexpr std::string_view copy_overwritten = "CopyOverwritten";  ///< again and again, by the provider's own
inline constexpr std::string_view failed_deletion = "FailedDeletion";
inline constexpr std::string_view reflection_disabled = "ReflectionDisabled";
inline constexpr std::string_view fields_dropped = "OffloadingFieldsDropped";  ///< the event that lists lost fields
inline constexpr std::string_view left_out = "OffloadingLeftOut";  ///< the event that lists what the provider left out
/// The event on a pod that reads its namespace, and is told the name of its twin.
inline constexpr std::string_view twin_namespace_read = "OffloadingTwinNamespace";
/// The event on a pod that reads more about itself by now than can be sent.
inline constexpr std::string_view reads_too_large = "OffloadingReadsTooLarge";
/// The event on a NamespaceOffloading: names with a namespace do not resolve in pods at a provider, or lead elsewhere.
inline constexpr std::string_view names_not_resolved = "NamesNotResolved";
/// The event on a NamespaceOffloading: from now on they do, and pods read the name at home as their namespace.
inline constexpr std::string_view names_resolved = "NamesResolved";
inline constexpr std::string_view failed_tokens = "FailedSATokensReflection";
/// The event on a pod that waits for trust bundles which home does not have, or gets those of its provider.
inline constexpr std::string_view no_trust_bundle = "NoTrustBundleOfHome";
/// The event on a pod that has no certificate, or a certificate that is not renewed.
inline constexpr std::string_view no_certificate = "NoCertificateOfHome";
/// The event on a Secret with a token of a service account that is copied as it is.
inline constexpr std::string_view token_reflected = "TokenReflected";
/// The event about an account that has rights, and whose pods elsewhere get no token: on a pod if the account is
/// `default`, otherwise on the NamespaceOffloading.
inline constexpr std::string_view no_token_of_home = "NoTokenOfHome";
inline constexpr std::string_view failed_create_pod = "FailedCreatePod";
inline constexpr std::string_view failed_update_pod = "FailedUpdatePod";
inline constexpr std::string_view failed_replication = "FailedReplication";
inline constexpr std::string_view replication_name_taken = "ReplicationNameTaken";
inline constexpr std::string_view credentials_unusable = "CredentialsUnusable";
inline constexpr std::string_view provider_unusable = "ProviderUnusable";
inline constexpr std::string_view credentials_in_use =
    "CredentialsInUse";  ///< being deleted while objects are replicated with them
/// The event on a ForeignCluster: the provider refuses everything in our tenant namespace there.
inline constexpr std::string_view rights_withdrawn = "RightsWithdrawn";
/// The event on a pod that uses objects which are not copied to the provider.
inline constexpr std::string_view not_reflected = "OffloadingNotReflected";
// On a claim of class liqo, those that Kubernetes' own provisioners use, and on its pods, too.
inline constexpr std::string_view provisioning_succeeded = "ProvisioningSucceeded";
inline constexpr std::string_view provisioning_failed = "ProvisioningFailed";
inline constexpr std::string_view rescheduling_required = "ReschedulingRequired";
inline constexpr std::string_view volume_pending = "VolumePending";  ///< its remote claim is not bound
inline constexpr std::string_view volume_lost = "VolumeLost";        ///< the claim that held the data is gone
inline constexpr std::string_view volume_differs = "VolumeDiffers";  ///< other access modes than asked for
inline constexpr std::string_view volume_resized = "VolumeResized";
inline constexpr std::string_view resize_failed = "VolumeResizeFailed";
inline constexpr std::string_view volume_delete_failed = "VolumeFailedDelete";  ///< on the volume
/// On a volume, or a claim that has none yet: its twin is no longer used and stays because it holds the data. Also a
/// reason of the condition Ready of a NamespaceOffloading.
inline constexpr std::string_view twin_holds_data = "TwinHoldsData";
inline constexpr std::string_view invalid = "Invalid";  ///< a NamespaceOffloading that cannot be followed
/// On a DaemonSet: its pods on virtual nodes run in other clusters.
inline constexpr std::string_view daemon_set_elsewhere = "DaemonSetElsewhere";
/// On a NamespaceOffloading: NetworkPolicies of the namespace do not hold in the cluster of a provider.
inline constexpr std::string_view policies_at_home = "NetworkPoliciesAtHome";
/// On a VirtualNode: another virtual node of the same provider decides what is reflected, and what is left out of
/// copies.
inline constexpr std::string_view filters_differ = "ReflectionFiltersDiffer";
// On a VirtualNode: the VkOptionsTemplate that it names does not exist, or has settings that cannot be followed.
inline constexpr std::string_view options_template_missing = "VkOptionsTemplateMissing";
inline constexpr std::string_view reflection_policy_invalid = "ReflectionPolicyInvalid";
/// On a VirtualNode: its VkOptionsTemplate says that its pods get no tokens for the API server at home.
inline constexpr std::string_view tokens_withheld = "TokensWithheld";
/// On a VirtualNode, and as reasons of a condition of its Node: whether all configured custom resources are reflected.
inline constexpr std::string_view custom_not_reflected = "CustomResourcesNotReflected";
inline constexpr std::string_view custom_reflected = "CustomResourcesReflected";
inline constexpr std::string_view custom_unknown = "CustomResourcesUnknown";
/// On the Service of the metric agent: consumers get no usage metrics, so that namespaces can be removed.
inline constexpr std::string_view figures_not_served = "FiguresNotServed";
inline constexpr std::string_view twin_refused = "TwinNamespaceRefused";
inline constexpr std::string_view tenant_role_refused = "TenantRoleRefused";  ///< the event on a tenant namespace
/// On a NamespaceOffloading: PodDisruptionBudgets of its namespace hold at home only. On one of these: no eviction of
/// its pods can be lent.
inline constexpr std::string_view budgets_not_held = "DisruptionBudgetsNotHeld";
/// On a PodDisruptionBudget: a provider may evict some of its pods, which home may not meanwhile.
inline constexpr std::string_view disruption_lent = "DisruptionLent";
/// On a twin namespace and a Node: copies of PodDisruptionBudgets have held its drain for as long as they may.
inline constexpr std::string_view budgets_lifted = "DisruptionBudgetsLifted";
/// On a pod, a Service or a ShadowEndpointSlice.
inline constexpr std::string_view address_left_out = "AddressLeftOut";
/// On a Service or an Ingress: its copy works in another way at the provider.
inline constexpr std::string_view copy_differs = "CopyDiffers";
/// On a Service or an Ingress: its copy waits for an address in vain.
inline constexpr std::string_view no_remote_address = "NoRemoteAddress";
// Reasons of the condition NetworkConfigurationStatus of a ForeignCluster; the last one is also that of an Event.
inline constexpr std::string_view pod_addresses_undeclared = "PodAddressesUndeclared";
inline constexpr std::string_view pod_addresses_invalid = "PodAddressesInvalid";
inline constexpr std::string_view pod_addresses_none = "PodAddressesNone";
inline constexpr std::string_view pod_addresses_declared = "PodAddressesDeclared";
inline constexpr std::string_view pod_addresses_unchecked = "PodAddressesUnchecked";
}  // namespace reasons

/// Condition of a consumer's pod: False with the provider's words while the provider refuses to run it, or its Pod
/// there does not become ready.
inline constexpr std::string_view offloaded_condition = "offloading.liqo.io/Offloaded";

/// Condition of a virtual Node, if custom resources are configured: False with the reason that some are not reflected.
inline constexpr std::string_view custom_resources_condition = "offloading.liqo.io/CustomResources";

/// Condition of a consumer's pod: False if it needs the API server of its home, whose address is not known.
inline constexpr std::string_view home_api_server_condition = "offloading.liqo.io/HomeAPIServer";

}  // namespace liqo::api
