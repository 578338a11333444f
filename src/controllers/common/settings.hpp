// What an operator sets for the whole process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/common/forging_context.hpp"
#include "core/namespaces/namespace_selection.hpp"
#include "core/nodes/node_ports.hpp"
#include "core/reflection/custom_resource.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"
#include "core/slices/policy.hpp"
#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The options of liqod, as the controllers read them. A default here is that of the option.
struct Settings {
  std::string cluster_id;               ///< of the cluster that this process serves
  std::string liqo_namespace = "liqo";  ///< the namespace that Liqo is installed in
  std::string pod_cidrs;                ///< ranges of this cluster's pods, which peers can read; "" = none are shown
  std::string node_ip;                  ///< InternalIP of every virtual node; where the kubelet API is served
  core::PortRange kubelet_ports{.first = 10250, .count = 64};  ///< of which each virtual node has one
  std::string kubelet_version;                                 ///< of virtual nodes until that of the provider is known
  std::map<std::string, std::string> node_extra_labels, node_extra_annotations;  ///< on every virtual node

  /// Labels that a provider's word does not set on its virtual nodes: keys, or "domain/*".
  std::vector<std::string> refused_node_labels;

  kube::Duration probe_interval = std::chrono::seconds(10);  ///< between two probes of a provider's API server
  kube::Duration probe_timeout = std::chrono::seconds(5);    ///< for the answer to one of them
  int probe_failures = 3;                                    ///< in a row, until a node is no longer Ready
  kube::Duration lease_interval = std::chrono::seconds(10);  ///< between two renewals of a virtual node's lease
  std::int64_t lease_seconds = 40;  ///< for which a renewal holds: the field leaseDurationSeconds

  /// Namespaces that are offloaded as they are made.
  core::NamespaceSelection selected_namespaces;

  /// How long the twin of a namespace stays when no virtual node matches its selector since labels have changed.
  kube::Duration withdrawal_grace = std::chrono::minutes(10);

  kube::Duration foreign_cluster_ping_interval = std::chrono::seconds(15);  ///< 0: peers count as reachable
  kube::Duration foreign_cluster_ping_timeout = std::chrono::seconds(5);    ///< for a peer's answer to a ping

  /// The StorageClass whose claims follow their pods into other clusters; "" = there is none.
  std::string storage_class;
  std::string storage_namespace = "liqo-storage";  ///< of the real claims of those that stay in this cluster

  /// Which offloaded pods get tokens for the home API server.
  core::ApiServerMode api_server_mode = core::ApiServerMode::needed;
  std::string api_server_host;  ///< as offloaded pods reach it; "" = kubernetes.default
  std::string api_server_port;
  std::string api_server_override;  ///< host, host:port or URL by which consumers reach the home API server; "" = found
  std::string api_server_fallback;  ///< URL where no control-plane node tells an address; "" = none
  std::string ca_pem;               ///< what consumers check that server's certificate with; "" = their system's CAs
  kube::Duration certificate_validity = std::chrono::hours(24 * 90);  ///< asked of the signer; 0 = its default
  bool rsa_keys = false;  ///< a new key of the cluster is RSA-2048, not Ed25519

  /// Patterns of the names that new twins may have, for consumers whose policy has none; unset: `-<consumer>` ends
  /// them.
  std::optional<std::vector<std::string>> twin_names;

  core::SlicePolicy slices;  ///< what consumers get; a ConfigMap changes it while the process runs

  /// Consumers get no more than their Quotas: ShadowPods are counted when they are created, and ended with their Quota.
  bool enforce_resources = true;
  /// A tenant that has ever said that it is there, and has been silent for so long, is cordoned; 0 = never.
  kube::Duration max_tenant_silence{0};
  /// Pods of consumers that do not end on a node that is not Ready are deleted by force.
  bool node_failures = false;
  /// What is held of one provider at most, over all its virtual nodes: MiB of JSON, and objects.
  int provider_cache_mib = 128, provider_cache_objects = 100'000;
  /// Writes in this cluster that one provider may cause, in a row and at a pace: statuses and ends of pods.
  int provider_write_burst = 5'000, provider_writes_per_second = 100;
  /// Which objects of each kind are reflected, where no VkOptionsTemplate says otherwise.
  reflection::Policies reflection;
  std::vector<reflection::CustomResource> custom_resources;  ///< that are reflected beside the kinds of the table
  /// What no copy has, and no ShadowPod.
  core::ReflectionFilters not_reflected{.labels = {}, .annotations = core::default_annotations_not_reflected()};
  std::vector<std::string> kept_keys;      ///< ForgingContext::kept_keys
  bool reflect_ips = true;                 ///< false: pods at home show no addresses
  bool denies_direct_connections = false;  ///< consumers' endpoints in third clusters are left out
  int pod_workers = 64;                    ///< pods reconciled at a time, per virtual node
};

}  // namespace liqo::controllers
