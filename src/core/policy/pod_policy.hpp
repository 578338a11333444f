// The pod policy of one tenant: what the tenant and its pods may do beyond the default. Only the provider's
// administrator writes it.
// Tested by test/unit/core/admission/pod_firewall_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The exceptions of a tenant. The default is strict: Kubernetes' Pod Security level "baseline", without anything that
/// reaches beyond the tenant's own namespaces. Lists name what is allowed in addition; "*" in a list allows everything.
/// What consumers of the Go version use every day is allowed by default, and some fields narrow it.
struct PodPolicy {
  bool host_namespaces = false;  ///< hostNetwork, hostPID, hostIPC
  bool host_path = false;        ///< volumes of the node's file system
  bool node_volumes = false;     ///< network and cloud volumes that the pod names itself, without a claim
  bool host_ports = false;
  bool privileged = false;        ///< privileged containers and Windows host processes
  bool unconfined = false;        ///< any seccomp, AppArmor, SELinux and /proc settings
  bool node_name = false;         ///< pods that name their node and so bypass the scheduler
  bool probe_hosts = false;       ///< probes and hooks that the node sends to other addresses than the pod's
  bool other_namespaces = false;  ///< affinity to pods and names of Services of namespaces that are not the tenant's
  bool resource_claims = false;   ///< devices by dynamic resource allocation, which no Quota counts
  bool external_ips = false;      ///< Services that name their own addresses
  bool external_name_backends = false;  ///< Ingresses that send traffic to Services of the type ExternalName
  bool strict_metadata = false;     ///< no labels and annotations that nobody knows, on what is in twins beside pods
  bool always_pull_images = false;  ///< containers always pull, so that cached images of other tenants need credentials
  // In lists of keys an entry that ends in "/*" names every key of that domain (`lists_key`).
  std::vector<std::string> annotations;  ///< onto pods, beside the common ones
  std::vector<std::string> labels;       ///< of pods, of reserved domains
  // Orders to controllers of this cluster (orders.hpp).
  std::vector<std::string> object_annotations;   ///< on Secrets, ConfigMaps, claims and templates of claims
  std::vector<std::string> object_labels;        ///< on these, Services and Ingresses
  std::vector<std::string> service_annotations;  ///< on Services
  std::vector<std::string> ingress_annotations;  ///< on Ingresses
  std::vector<std::string> capabilities;
  std::vector<std::string> sysctls;
  std::vector<std::string> service_accounts;  ///< beside "default"
  std::vector<std::string> priority_classes;  ///< that a ShadowPod may name itself
  /// PriorityClasses of the consumer to those of this cluster; "*" stands for every other one. Either this map or
  /// `priority_classes` is set, not both.
  std::map<std::string, std::string, std::less<>> priority_class_map;
  std::vector<std::string> schedulers;             ///< beside the default one
  std::vector<std::string> runtime_classes;        ///< beside the default one
  std::vector<std::string> certificate_signers;    ///< of this cluster, whose certificates pods may get
  std::vector<std::string> cluster_roles;          ///< that the consumer gets in its twins, beside the usual one
  std::vector<std::string> tolerations;            ///< keys of taints; other tolerations are left out of the pod
  std::vector<std::string> refused_service_types;  ///< e.g. "LoadBalancer"; none by default
  std::optional<std::vector<std::string>> storage_classes;  ///< of claims; unset = those that are offered
  std::optional<std::vector<std::string>> ingress_classes;  ///< that Ingresses may name; unset = those that are offered
  std::optional<std::vector<std::string>> load_balancer_classes;  ///< of Services; unset = those that are offered
  std::optional<std::vector<std::string>> ingress_hosts;          ///< that Ingresses may name; unset = any
  /// The ranges in which the endpoints of the consumer's Services may be, as this cluster reaches them; for unset see
  /// core/addresses/consumer_addresses.hpp.
  std::optional<std::vector<Cidr>> endpoint_ranges;
  std::int64_t max_objects = 64;  ///< of each replicated kind, in the tenant namespace
  std::int64_t max_termination_grace_seconds = 86'400;
  std::int64_t max_drain_grace_seconds = 600;          ///< of pods when the tenant is drained
  std::optional<std::vector<std::string>> twin_names;  ///< patterns for new twins; unset = those of the whole cluster
  /// How long copies of the consumer's PodDisruptionBudgets may hold the drain of a node; unset = it may have none.
  std::optional<std::chrono::seconds> max_block;
  Resources max_slice;      ///< the most that one slice is granted; unbounded if a resource is not named
  Resources max_resources;  ///< the same for all slices of the consumer together
  Resources twin_quota;     ///< in place of the usual bounds of each twin, by the names of ResourceQuotas
  Resources tenant_quota;   ///< the same for all twins together
  std::int64_t max_ephemeral_containers = 32;     ///< of one pod; no Quota counts them
  std::int64_t max_shadow_pods = 20'000;          ///< stored ones, also those that have finished
  std::int64_t max_shadow_pod_bytes = 256 << 20;  ///< of all stored ones together
  std::int64_t max_twin_bytes = 512 << 20;        ///< of the twins, if all objects were as large as a new one
  bool operator==(const PodPolicy&) const = default;
};

/// Reads the JSON object of the annotation `liqo.io/pod-policy`; "" is the default policy. Keys are those of
/// docs/pod-firewall.md, e.g. {"hostPorts": true, "capabilities": ["NET_ADMIN"]}. Errors: Errc::parse for a text that
/// is no JSON, an unknown key or a value of another type, because half a policy must not be applied.
kube::Result<PodPolicy> read_pod_policy(std::string_view annotation);

/// The PriorityClass of this cluster to which the map takes one of the consumer's; "" if the map does not name it.
std::string_view mapped_priority_class(const PodPolicy& policy, std::string_view of_consumer);

/// Whether the list has the value or "*".
bool lists(const std::vector<std::string>& list, std::string_view value);

/// Whether the list has the key of a label or an annotation, or "*", or an entry "domain/*" for its domain.
bool lists_key(const std::vector<std::string>& list, std::string_view key);

}  // namespace liqo::core
