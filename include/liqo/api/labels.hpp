// Literals of the wire: labels, annotations, finalizers, reasons and names that both clusters and other tools read.
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
inline constexpr std::string_view remote_unavailable =
    "liqo.io/remote-unavailable";  ///< "true": virtual node not ready
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

namespace annotations {
inline constexpr std::string_view anti_affinity_preset = "liqo.io/anti-affinity-preset";  ///< propagate, soft, hard
inline constexpr std::string_view anti_affinity_labels = "liqo.io/anti-affinity-labels";  ///< label keys, commas
inline constexpr std::string_view api_server_support = "liqo.io/api-server-support";      ///< home, remote, disabled
/// On a pod: the service account of the provider as which it runs there.
inline constexpr std::string_view remote_service_account = "liqo.io/remote-service-account-name";
/// On a pod: the RuntimeClass of the provider with which it runs there.
inline constexpr std::string_view remote_runtime_class = "liqo.io/remote-runtime-class-name";
/// On an object, any value but "false": it is not copied to providers.
inline constexpr std::string_view skip_reflection = "liqo.io/skip-reflection";
/// Likewise: it is copied, also where only what allows it is.
inline constexpr std::string_view allow_reflection = "liqo.io/allow-reflection";
/// On a Service, "true": its copy gets the same node ports.
inline constexpr std::string_view force_remote_node_port = "liqo.io/force-remote-node-port";
/// On what a provider makes for a NamespaceMap: its key, "namespace/name".
inline constexpr std::string_view managed_by_namespace_map = "liqo.io/managed-by-namespace-map";
/// On a twin: the consumer's namespace.
inline constexpr std::string_view original_name = "liqo.io/original-name";
/// On a ShadowEndpointSlice: which of its addresses are those of pods in third clusters, {"clusterAddresses": {…}}.
inline constexpr std::string_view direct_connections = "liqo.io/direct-connections-data";
/// On a Service, "true": providers reach its pods in third clusters without this one between them.
inline constexpr std::string_view use_direct_connections = "liqo.io/use-direct-connections";
/// On the tenant namespace of a consumer: what it may do beyond the default (docs/pod-firewall.md).
inline constexpr std::string_view pod_policy = "liqo.io/pod-policy";
/// On a Secret with the tokens of a pod: the name and the UID of that pod.
inline constexpr std::string_view token_pod_name = "offloading.liqo.io/service-account-for-pod-name";
inline constexpr std::string_view token_pod_uid = "offloading.liqo.io/service-account-for-pod-uid";
/// Likewise: when the first of the tokens expires, RFC 3339.
inline constexpr std::string_view token_expiration = "offloading.liqo.io/service-account-expiration";
/// On a ControlPlane kubeconfig Secret: our namespace at the provider.
inline constexpr std::string_view remote_tenant_namespace = "liqo.io/remote-tenant-namespace";
/// On a ForeignCluster, "true": it will not come back, do not wait for it.
inline constexpr std::string_view permanently_unreachable = "liqo.io/foreign-cluster-permanently-unreachable";
/// On a ForeignCluster: the ranges in which its pods have their addresses, as this cluster reaches them ("10.2.0.0/16,
/// fd00:2::/64"), or "none". Only this cluster's administrator writes it.
inline constexpr std::string_view remote_pod_cidrs = "liqo.io/remote-pod-cidrs";
/// The provider's marks on the replica of a ResourceSlice.
inline constexpr std::string_view cordon = "liqo.io/cordon";
inline constexpr std::string_view cordon_tenant = "liqo.io/cordon-tenant";
inline constexpr std::string_view cordoned_resource = "liqo.io/cordoned-resource";  ///< as `cordon`, of older documents

/// On a ResourceSlice, "" or "false": no VirtualNode is made of it. Absent means that one is.
inline constexpr std::string_view create_virtual_node = "liqo.io/create-virtual-node";
/// On a claim: the class and the access modes ("ReadWriteOnce,ReadOnlyMany") that its remote claim gets.
inline constexpr std::string_view remote_storage_class = "liqo.io/remote-storage-class";
inline constexpr std::string_view remote_access_modes = "liqo.io/remote-access-modes";
/// Of Kubernetes, on a claim: where its first pod is to run, and who is to make its volume, in both spellings.
inline constexpr std::string_view selected_node = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view volume_provisioner = "volume.kubernetes.io/storage-provisioner";
inline constexpr std::string_view volume_provisioner_beta = "volume.beta.kubernetes.io/storage-provisioner";
/// Of Kubernetes, on a volume: who made it.
inline constexpr std::string_view provisioned_by = "pv.kubernetes.io/provisioned-by";
/// Of kubectl apply, on what it was used for: the whole object as it was applied.
inline constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

// Ours alone; the Go version ignores them.

/// On a backing claim: the UID, and namespace and name, of the claim of class liqo whose data it holds.
inline constexpr std::string_view virtual_claim_uid = "storage.liqo.io/virtual-claim-uid";
inline constexpr std::string_view virtual_claim = "storage.liqo.io/virtual-claim";
/// On a volume of class liqo: the backing claim, "namespace/name", its UID, and its cluster. On the claim of the
/// volume: where provisioning has begun, which users can overwrite.
inline constexpr std::string_view backing_claim = "storage.liqo.io/backing-claim";
inline constexpr std::string_view backing_claim_uid = "storage.liqo.io/backing-claim-uid";
inline constexpr std::string_view backing_cluster = "storage.liqo.io/backing-cluster";
/// On a claim of class liqo: the claim in its namespace after which its backing claim at a provider is named.
inline constexpr std::string_view moves_claim = "storage.liqo.io/moves-claim";
/// `takes_volume`, on a claim of class liqo: the released volume whose data it is to take over. `given_to`, on that
/// volume, which only administrators write: the claim, "namespace/name", that may take it.
inline constexpr std::string_view takes_volume = "storage.liqo.io/takes-volume";
inline constexpr std::string_view given_to = "storage.liqo.io/given-to";
/// On the target volume of `liqoctl move volume`: the progress of the move.
inline constexpr std::string_view move_record = "storage.liqo.io/move";

/// On a RoleBinding in a twin: the ClusterRole of the tenant's policy that it was made for.
inline constexpr std::string_view tenant_role = "liqo.io/tenant-role";
/// On a Quota: what was asked for and granted when the slice was last negotiated. It is not on the ResourceSlice,
/// because the consumer can write that.
inline constexpr std::string_view negotiated = "liqo.io/negotiated";
/// The provider's mark on the replica of a ResourceSlice, read as `cordon`: nothing is granted, and its pods end.
inline constexpr std::string_view drain = "liqo.io/drain";
/// On a Quota, "true": the pods that it counts are ended.
inline constexpr std::string_view drained = "liqo.io/drained";
/// On a VirtualNode: the labels and the node selector that its ResourceSlice asked for last, so that removals follow.
inline constexpr std::string_view applied_slice = "liqo.io/applied-slice";
/// On a Tenant, 1 to 100: percentage of the free resources that slices of class "share" are granted.
inline constexpr std::string_view sharing_percentage = "liqo.io/sharing-percentage";
/// On a Tenant, "true": draining it leaves running pods alone.
inline constexpr std::string_view keep_pods = "liqo.io/keep-pods";
/// On a Secret with an issued certificate: when it was received, RFC 3339.
inline constexpr std::string_view certificate_received = "liqo.io/certificate-received";
/// On a ControlPlane Identity: the digest, in hex, of the provider's answer that was last written into it. Without it
/// the answer is written again.
inline constexpr std::string_view taken_answer = "liqo.io/taken-answer";
/// On a Tenant: the last heartbeat before silence cordoned the Tenant. A Tenant that somebody uncordons is not cordoned
/// again for the same silence.
inline constexpr std::string_view silent_since = "liqo.io/cordoned-silent-since";
/// On a tenant namespace: the decisions of the last Tenant in it; removing the annotation forgets them.
inline constexpr std::string_view tenant_decisions = "liqo.io/tenant-decisions";
/// On the ConfigMap with the record of a Quota's reservations: "namespace/name" of the Quota.
inline constexpr std::string_view ledger_quota = "liqo.io/quota";
/// On the object by which callers of the webhook are proven (core/admission/callers.hpp): the address that asked.
inline constexpr std::string_view asked_from = "liqo.io/asked-from";
/// On a Secret with the tokens of a pod: digest of the tokens and their expiration. It tells a process that has not
/// requested them whether somebody else has changed the Secret.
inline constexpr std::string_view tokens_digest = "offloading.liqo.io/service-account-tokens-digest";
/// On a ShadowPod and its pod: UID of the consumer's pod. Absent on objects made by the Go version.
inline constexpr std::string_view local_pod_uid = "offloading.liqo.io/local-pod-uid";
/// On a ShadowPod: when the consumer sent it, or its creationTimestamp once the consumer has confirmed it
/// (core/offloading/order.hpp). Absent on objects made by the Go version, which ignores it.
inline constexpr std::string_view ordered_at = "offloading.liqo.io/ordered-at";
/// On a ShadowPod whose pod is to end: the grace period in seconds, in place of the pod's own
/// (core/offloading/ending.hpp).
inline constexpr std::string_view ending_grace = "offloading.liqo.io/ending-grace-seconds";
/// On a ShadowPod: the PriorityClass of the pod at home. The provider's policy maps it to one of its own.
inline constexpr std::string_view priority_class = "offloading.liqo.io/priority-class-name";
/// On a ShadowPod, written by its provider: why the pod is not created. Removed once it is.
inline constexpr std::string_view refused = "offloading.liqo.io/refused";
/// On reflected objects: the keys of labels and annotations that reflection set, so that removals can follow.
inline constexpr std::string_view reflected_keys = "offloading.liqo.io/reflected-keys";
/// On a reflected object: digest of what was applied, so that an equal wish is not applied again.
inline constexpr std::string_view reflected_digest = "offloading.liqo.io/reflected-digest";
/// On a provider's pod: digest of the mutable part of the ShadowPod's spec that was applied last.
inline constexpr std::string_view applied_spec = "offloading.liqo.io/applied-spec";
/// On a provider's pod or EndpointSlice: what its shadow asks for and the provider has left out
/// (core/offloading/left_out.hpp).
inline constexpr std::string_view left_out = "offloading.liqo.io/left-out";
/// On a provider's pod: which ephemeral containers of its ShadowPod it does not get, and why; a JSON object by name.
inline constexpr std::string_view ephemeral_left_out = "offloading.liqo.io/ephemeral-containers-left-out";
/// On a provider's pod: the generation of its ShadowPod and the digest of the amounts with which the pod was created or
/// last resized ("3/0f3c…"), after "resizing-" while the resize is not finished.
inline constexpr std::string_view applied_resources = "offloading.liqo.io/applied-resources";
/// On a provider's pod: the digest of the amounts that it does not get, a space, and the reason.
inline constexpr std::string_view resize_refused = "offloading.liqo.io/resize-refused";
/// On a consumer's pod: UID of the provider's pod whose status it shows, and what is added to its restart counts.
inline constexpr std::string_view remote_pod_uid = "offloading.liqo.io/remote-pod-uid";
inline constexpr std::string_view restart_offset = "offloading.liqo.io/restart-offset";
/// On a consumer's pod: the types of conditions that it has from the provider's pod alone, beside those of kubelets.
inline constexpr std::string_view remote_conditions = "offloading.liqo.io/remote-conditions";
/// On a tenant namespace, set by the provider's administrator: the Pod Security level of that consumer's twin
/// namespaces, "privileged", "baseline" (default) or "restricted". Consumers have no right to write namespaces.
inline constexpr std::string_view twin_pod_security = "offloading.liqo.io/twin-pod-security";
/// On a ForeignCluster, "true": created by this program, which removes it with the last object of its peer.
inline constexpr std::string_view made_by_liqod = "core.liqo.io/made-by-liqod";
/// On a virtual Node: the labels, annotations and taints that its VirtualNode asked for last.
inline constexpr std::string_view applied_node = "offloading.liqo.io/applied-node";
/// On a NamespaceOffloading that was made for the labels of its namespace: the selector that they match.
inline constexpr std::string_view namespace_selector = "offloading.liqo.io/namespace-selector";
}  // namespace annotations

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
inline constexpr std::string_view failed_deletion = "FailedDeletion";
inline constexpr std::string_view reflection_disabled = "ReflectionDisabled";
inline constexpr std::string_view fields_dropped = "OffloadingFieldsDropped";  ///< the event that lists lost fields
inline constexpr std::string_view left_out = "OffloadingLeftOut";  ///< the event that lists what the provider left out
inline constexpr std::string_view failed_tokens = "FailedSATokensReflection";
inline constexpr std::string_view failed_create_pod = "FailedCreatePod";
inline constexpr std::string_view failed_update_pod = "FailedUpdatePod";
inline constexpr std::string_view failed_replication = "FailedReplication";
inline constexpr std::string_view replication_name_taken = "ReplicationNameTaken";
inline constexpr std::string_view credentials_unusable = "CredentialsUnusable";
inline constexpr std::string_view provider_unusable = "ProviderUnusable";
inline constexpr std::string_view credentials_in_use =
    "CredentialsInUse";  ///< being deleted while objects are replicated with them
/// The provider refuses everything in our tenant namespace there; the event on a ForeignCluster.
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
/// On a VirtualNode: another virtual node of the same provider decides what is reflected, and what is left out of
/// copies.
inline constexpr std::string_view filters_differ = "ReflectionFiltersDiffer";
// On a VirtualNode: the VkOptionsTemplate that it names is not there, or says what cannot be followed.
inline constexpr std::string_view options_template_missing = "VkOptionsTemplateMissing";
inline constexpr std::string_view reflection_policy_invalid = "ReflectionPolicyInvalid";
/// On a VirtualNode: its VkOptionsTemplate says that its pods get no tokens for the API server at home.
inline constexpr std::string_view tokens_withheld = "TokensWithheld";
/// On a VirtualNode, and as reasons of a condition of its Node: whether all configured custom resources are reflected.
inline constexpr std::string_view custom_not_reflected = "CustomResourcesNotReflected";
inline constexpr std::string_view custom_reflected = "CustomResourcesReflected";
inline constexpr std::string_view custom_unknown = "CustomResourcesUnknown";
/// On the Service of the metric agent: consumers are told no figures, so that namespaces can be removed.
inline constexpr std::string_view figures_not_served = "FiguresNotServed";
inline constexpr std::string_view twin_refused = "TwinNamespaceRefused";
inline constexpr std::string_view tenant_role_refused = "TenantRoleRefused";  ///< the event on a tenant namespace
inline constexpr std::string_view address_left_out = "AddressLeftOut";  ///< the event on a pod or a ShadowEndpointSlice
// Reasons of the condition NetworkConfigurationStatus of a ForeignCluster; the last one is also that of an Event.
inline constexpr std::string_view pod_addresses_undeclared = "PodAddressesUndeclared";
inline constexpr std::string_view pod_addresses_invalid = "PodAddressesInvalid";
inline constexpr std::string_view pod_addresses_none = "PodAddressesNone";
inline constexpr std::string_view pod_addresses_declared = "PodAddressesDeclared";
inline constexpr std::string_view pod_addresses_unchecked = "PodAddressesUnchecked";
}  // namespace reasons

/// Condition of a consumer's pod: False with the provider's words while the provider refuses to run it, or has it and
/// does not get it ready.
inline constexpr std::string_view offloaded_condition = "offloading.liqo.io/Offloaded";

/// Condition of a virtual Node, where custom resources are configured: False with the reason that some are not
/// reflected.
inline constexpr std::string_view custom_resources_condition = "offloading.liqo.io/CustomResources";

/// Condition of a consumer's pod: False where it needs the API server of its home and nobody has said its address.
inline constexpr std::string_view home_api_server_condition = "offloading.liqo.io/HomeAPIServer";

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
/// The ServiceAccount of the chart, in Liqo's namespace, as which the metric agent asks kubelets: it may nothing else.
inline constexpr std::string_view metric_agent_account = "liqo-metric-agent";
/// The Secret with the certificate of the metric agent, in Liqo's namespace.
inline constexpr std::string_view metric_agent_secret = "liqo-metric-agent-certs";
/// The Service of the chart before the port of liqod's metrics, in Liqo's namespace.
inline constexpr std::string_view metrics_service = "liqod-metrics";

}  // namespace liqo::api
