// What one tenant and its pods may do where it is not the default: written by the provider's administrator alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::admission {

/// The exceptions of a tenant. The default is strict: what Kubernetes' Pod Security level "baseline" lets pass, less
/// what reaches beyond the tenant's own namespaces. Lists name what is allowed in addition; "*" in a list is anything.
/// What Go Liqo's consumers do all day passes by default, and the policy narrows it.
struct PodPolicy {
  bool host_namespaces = false;  ///< hostNetwork, hostPID, hostIPC
  bool host_path = false;        ///< volumes of the node's file system
  bool node_volumes = false;     ///< network and cloud volumes that the pod names itself, without a claim
  bool host_ports = false;
  bool privileged = false;               ///< privileged containers and Windows host processes
  bool unconfined = false;               ///< seccomp, AppArmor, SELinux and /proc as the pod wants them
  bool node_name = false;                ///< past the scheduler
  bool probe_hosts = false;              ///< probes and hooks that the node sends to other addresses than the pod's
  bool other_namespaces = false;         ///< affinity to pods, and names of Services, of others' namespaces
  bool resource_claims = false;          ///< devices by dynamic resource allocation, which no quota counts
  bool external_ips = false;             ///< Services with addresses of their own choice
  std::vector<std::string> annotations;  ///< of those that network plugins and runtimes read
  std::vector<std::string> capabilities;
  std::vector<std::string> sysctls;
  std::vector<std::string> service_accounts;  ///< beside "default"
  std::vector<std::string> priority_classes;
  std::vector<std::string> schedulers;             ///< beside the default one
  std::vector<std::string> tolerations;            ///< keys of taints beside those that are not for the control plane
  std::vector<std::string> refused_service_types;  ///< e.g. "LoadBalancer"; none by default
  std::optional<std::vector<std::string>> ingress_hosts;  ///< all that Ingresses may name; any where it is not set
  std::int64_t max_objects = 64;  ///< of each kind by which a consumer asks, in its tenant namespace
  std::int64_t max_termination_grace_seconds = 86'400;
  bool operator==(const PodPolicy&) const = default;
};

/// Reads the JSON object of the annotation `liqo.io/pod-policy`; "" is the default policy. Keys are those of
/// docs/pod-firewall.md, e.g. {"hostPorts": true, "capabilities": ["NET_ADMIN"]}. Errors: Errc::parse for what is no
/// JSON, for an unknown key and for a value of another type: a policy that is not understood must not be half applied.
kube::Result<PodPolicy> read_pod_policy(std::string_view annotation);

/// True where the list names the value, or everything.
bool lists(const std::vector<std::string>& list, std::string_view value);

}  // namespace liqo::core::admission
