// Annotations that both clusters and other tools read.
#pragma once

#include <string_view>

namespace liqo::api {

namespace annotations {
inline constexpr std::string_view anti_affinity_preset = "liqo.io/anti-affinity-preset";  ///< propagate, soft, hard
inline constexpr std::string_view anti_affinity_labels = "liqo.io/anti-affinity-labels";  ///< label keys, commas
inline constexpr std::string_view api_server_support = "liqo.io/api-server-support";      ///< home, remote, disabled
/// On a pod, `keep`: its topology spread constraints, or its pod affinity, are sent as they are, and not as wishes.
inline constexpr std::string_view topology_spread = "liqo.io/topology-spread";
inline constexpr std::string_view pod_affinity = "liqo.io/pod-affinity";
/// On a pod: the service account of the provider as which it runs there.
inline constexpr std::string_view remote_service_account = "liqo.io/remote-service-account-name";
/// On a pod: the RuntimeClass of the provider with which it runs there.
inline constexpr std::string_view remote_runtime_class = "liqo.io/remote-runtime-class-name";
/// On a pod, "provider": it reads about itself what its provider knows, and not what home would tell.
inline constexpr std::string_view downward_api = "liqo.io/downward-api";
/// On an object, any value but "false": it is not copied to providers.
inline constexpr std::string_view skip_reflection = "liqo.io/skip-reflection";
/// On an object, any value but "false": it is copied, even if only objects with this annotation are.
inline constexpr std::string_view allow_reflection = "liqo.io/allow-reflection";
/// On a Service, "true": its copy gets the same node ports.
inline constexpr std::string_view force_remote_node_port = "liqo.io/force-remote-node-port";
/// On what a provider makes for a NamespaceMap: its key, "namespace/name".
inline constexpr std::string_view managed_by_namespace_map = "liqo.io/managed-by-namespace-map";
/// On a twin: the consumer's namespace.
inline constexpr std::string_view original_name = "liqo.io/original-name";
/// On a ShadowEndpointSlice: which of its addresses are those of pods in third clusters, {"clusterAddresses": {…}}.
inline constexpr std::string_view direct_connections = "liqo.io/direct-connections-data";
/// On a Service, "true": providers reach its pods in third clusters directly, and not through this one.
inline constexpr std::string_view use_direct_connections = "liqo.io/use-direct-connections";
/// On the tenant namespace of a consumer: what it may do beyond the default (docs/pod-firewall.md).
inline constexpr std::string_view pod_policy = "liqo.io/pod-policy";
/// On a Secret with the tokens of a pod: the name and the UID of that pod.
inline constexpr std::string_view token_pod_name = "offloading.liqo.io/service-account-for-pod-name";
inline constexpr std::string_view token_pod_uid = "offloading.liqo.io/service-account-for-pod-uid";
/// On a Secret with the tokens of a pod: when the first of the tokens expires, RFC 3339.
inline constexpr std::string_view token_expiration = "offloading.liqo.io/service-account-expiration";
/// On a Secret with the certificates of a pod: when each is to be renewed and expires.
inline constexpr std::string_view certificate_times = "offloading.liqo.io/certificate-times";
/// On a ConfigMap with trust bundles of a consumer: a digest of them.
inline constexpr std::string_view trust_digest = "offloading.liqo.io/trust-digest";
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

/// On a twin, "true": the provider refuses what names any other owner than that Namespace, by its present UID
/// (core/admission/owners.hpp). Consumers name it only then.
inline constexpr std::string_view checks_owners = "offloading.liqo.io/checks-owners";

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
/// On a Secret with the tokens of a pod: digest of the tokens and their expiration. It shows a process that has not
/// requested them whether another writer has changed the Secret.
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
/// The beginning of annotations of a ShadowPod and its Pod: what the pod reads about itself
/// (core/offloading/pod_reads).
inline constexpr std::string_view read_prefix = "offloading.liqo.io/read.";
/// On a ShadowPod, written by its provider: why the pod is not created. Removed once it is.
inline constexpr std::string_view refused = "offloading.liqo.io/refused";
/// On reflected objects: the keys of labels and annotations that reflection set, so that removals can follow.
inline constexpr std::string_view reflected_keys = "offloading.liqo.io/reflected-keys";
/// On a reflected object: digest of what was applied, so that the same wanted object is not applied again.
inline constexpr std::string_view reflected_digest = "offloading.liqo.io/reflected-digest";
/// On a provider's pod: digest of the mutable part of the ShadowPod's spec that was applied last.
inline constexpr std::string_view applied_spec = "offloading.liqo.io/applied-spec";
/// On a provider's pod or EndpointSlice: what its shadow asks for and the provider has left out
/// (core/offloading/left_out.hpp).
inline constexpr std::string_view left_out = "offloading.liqo.io/left-out";
/// On a provider's pod: the topology keys of its wishes that no node there has, a JSON array
/// (core/offloading/placement_wishes.hpp).
inline constexpr std::string_view missing_topology_keys = "offloading.liqo.io/missing-topology-keys";
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
/// On a Service or an Ingress at home: the addresses that providers gave to its copies, by provider, in JSON
/// (core/reflection/remote_addresses.hpp).
inline constexpr std::string_view remote_addresses = "offloading.liqo.io/remote-addresses";
/// On a NamespaceOffloading: the providers, with blanks between them, of which was reported that NetworkPolicies of the
/// namespace do not hold there.
inline constexpr std::string_view policies_reported = "offloading.liqo.io/network-policies-reported";
/// On a tenant namespace, set by the provider's administrator: the Pod Security level of that consumer's twin
/// namespaces, "privileged", "baseline" (default) or "restricted". Consumers have no right to write namespaces.
inline constexpr std::string_view twin_pod_security = "offloading.liqo.io/twin-pod-security";
/// On a ForeignCluster, "true": created by this program, which removes it with the last object of its peer.
inline constexpr std::string_view made_by_liqod = "core.liqo.io/made-by-liqod";
/// On a copy of a PodDisruptionBudget, written by the provider: the names of ready pods that are on cordoned nodes
/// there, separated by commas. Home lends the provider evictions of them (core/offloading/disruption_budget.hpp).
inline constexpr std::string_view evictions_wanted = "offloading.liqo.io/evictions-wanted";
/// On a twin namespace, "true" or "false": whether the provider lets copies of PodDisruptionBudgets hold there. Absent:
/// it does not, as the Go version and older ones.
inline constexpr std::string_view holds_budgets = "offloading.liqo.io/holds-budgets";
/// On a twin namespace: since when no copies of PodDisruptionBudgets are made in it, because they have held a drain for
/// as long as they may.
inline constexpr std::string_view budgets_lifted = "offloading.liqo.io/budgets-lifted";
/// On a virtual Node: the labels, annotations and taints that its VirtualNode asked for last.
inline constexpr std::string_view applied_node = "offloading.liqo.io/applied-node";
/// On a NamespaceOffloading that was made for the labels of its namespace: the selector that they match.
inline constexpr std::string_view namespace_selector = "offloading.liqo.io/namespace-selector";
}  // namespace annotations

/// The value of `topology_spread` and `pod_affinity`.
inline constexpr std::string_view as_it_is = "keep";

}  // namespace liqo::api
