// What one tenant and its pods may do where it is not the default: written by the provider's administrator alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core::admission {

/// The exceptions of a tenant. The default is strict: what Kubernetes' Pod Security level "baseline" lets pass, less
/// what reaches beyond the tenant's own namespaces. Lists name what is allowed in addition; "*" in a list is anything.
/// What Go Liqo's consumers do all day passes by default, and the policy narrows it.
struct PodPolicy {
  bool host_namespaces = false;  ///< hostNetwork, hostPID, hostIPC
  bool host_path = false;        ///< volumes of the node's file system
  bool node_volumes = false;     ///< network and cloud volumes that the pod names itself, without a claim
  bool host_ports = false;
  bool privileged = false;              ///< privileged containers and Windows host processes
  bool unconfined = false;              ///< seccomp, AppArmor, SELinux and /proc as the pod wants them
  bool node_name = false;               ///< past the scheduler
  bool probe_hosts = false;             ///< probes and hooks that the node sends to other addresses than the pod's
  bool other_namespaces = false;        ///< affinity to pods, and names of Services, of others' namespaces
  bool resource_claims = false;         ///< devices by dynamic resource allocation, which no quota counts
  bool external_ips = false;            ///< Services with addresses of their own choice
  bool external_name_backends = false;  ///< Ingresses that send traffic to Services of the type ExternalName
  bool always_pull_images = false;      ///< every container pulls, so that images of others are asked for credentials
  // Lists of keys: an entry that ends in "/*" is every key of that domain (`lists_key`).
  std::vector<std::string> annotations;          ///< that go onto pods beside the common ones
  std::vector<std::string> labels;               ///< of pods, of reserved domains
  std::vector<std::string> service_annotations;  ///< of those that change how a Service is exposed
  std::vector<std::string> ingress_annotations;  ///< of those that change how an Ingress is exposed
  std::vector<std::string> capabilities;
  std::vector<std::string> sysctls;
  std::vector<std::string> service_accounts;  ///< beside "default"
  std::vector<std::string> priority_classes;  ///< that a ShadowPod may name itself
  /// What the classes of pods at home become here; "*" is every other one. Not both of the two are set.
  std::map<std::string, std::string, std::less<>> priority_class_map;
  std::vector<std::string> schedulers;                      ///< beside the default one
  std::vector<std::string> runtime_classes;                 ///< beside the default one
  std::vector<std::string> cluster_roles;                   ///< of the consumer in its twins, beside the usual one
  std::vector<std::string> tolerations;                     ///< keys of taints; others are left out of the pod
  std::vector<std::string> refused_service_types;           ///< e.g. "LoadBalancer"; none by default
  std::optional<std::vector<std::string>> storage_classes;  ///< of claims; those that are offered where it is not set
  std::optional<std::vector<std::string>> ingress_hosts;    ///< all that Ingresses may name; any where it is not set
  /// Where the endpoints of the consumer's Services may be, as this cluster reaches them; unset = see
  /// core/addresses/consumer_addresses.hpp.
  std::optional<std::vector<Cidr>> endpoint_ranges;
  std::int64_t max_objects = 64;  ///< of each kind by which a consumer asks, in its tenant namespace
  std::int64_t max_termination_grace_seconds = 86'400;
  std::int64_t max_drain_grace_seconds = 600;          ///< that pods still have when the tenant is drained
  std::optional<std::vector<std::string>> twin_names;  ///< patterns of new twins; unset = as the whole cluster has it
  Resources max_slice;      ///< the most that one slice is granted, by resource; none by default
  Resources max_resources;  ///< and all slices of the consumer together
  Resources twin_quota;     ///< of each twin, by the names of ResourceQuotas, where it is not the usual
  Resources tenant_quota;   ///< of all twins together
  std::int64_t max_ephemeral_containers = 32;     ///< of one pod, for its debugging; no quota counts them
  std::int64_t max_shadow_pods = 20'000;          ///< that are stored, finished ones among them
  std::int64_t max_shadow_pod_bytes = 256 << 20;  ///< of all of them together
  std::int64_t max_twin_bytes = 512 << 20;        ///< what twins would hold, were all objects as large as a new one
  bool operator==(const PodPolicy&) const = default;
};

/// Reads the JSON object of the annotation `liqo.io/pod-policy`; "" is the default policy. Keys are those of
/// docs/pod-firewall.md, e.g. {"hostPorts": true, "capabilities": ["NET_ADMIN"]}. Errors: Errc::parse for what is no
/// JSON, for an unknown key and for a value of another type: a policy that is not understood must not be half applied.
kube::Result<PodPolicy> read_pod_policy(std::string_view annotation);

/// The PriorityClass of this cluster that one of the consumer's becomes by the map, "" where that says nothing of it.
std::string_view mapped_priority_class(const PodPolicy& policy, std::string_view of_consumer);

/// True where the list names the value, or everything.
bool lists(const std::vector<std::string>& list, std::string_view value);

/// The same for the key of a label or an annotation, which an entry "domain/*" names as well.
bool lists_key(const std::vector<std::string>& list, std::string_view key);

}  // namespace liqo::core::admission
