// What an operator sets for the whole process.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kube/base/time.hpp"
#include "liqo/core/forge/context.hpp"
#include "liqo/core/slice/policy.hpp"

namespace liqo::controllers {

struct Settings {
  std::string cluster_id;  ///< of the cluster that this process serves
  std::string liqo_namespace = "liqo";
  std::string node_ip;  ///< InternalIP of every virtual node; where the kubelet API is served
  std::uint16_t kubelet_port = 10250;
  std::string kubelet_version;  ///< of virtual nodes: that of the home API server
  std::map<std::string, std::string> node_extra_labels, node_extra_annotations;  ///< on every virtual node

  kube::Duration probe_interval = std::chrono::seconds(10);
  kube::Duration probe_timeout = std::chrono::seconds(5);
  int probe_failures = 3;  ///< in a row, until a node is no longer Ready
  kube::Duration lease_interval = std::chrono::seconds(10);
  std::int64_t lease_seconds = 40;

  kube::Duration foreign_cluster_ping_interval = std::chrono::seconds(15);  ///< 0: peers count as reachable
  kube::Duration foreign_cluster_ping_timeout = std::chrono::seconds(5);

  bool api_server_support = false;  ///< offloaded pods get tokens for the home API server
  std::string api_server_host;      ///< as offloaded pods reach it; "" = kubernetes.default
  std::string api_server_port;
  std::string api_server_override;  ///< host, host:port or URL by which consumers reach the home API server; "" = found
  std::string api_server_fallback;  ///< URL where no control-plane node tells an address; "" = none
  std::string ca_pem;               ///< what consumers check that server's certificate with; "" = their system's CAs
  kube::Duration certificate_validity = std::chrono::hours(24 * 90);  ///< asked of the signer; 0 = its default
  bool rsa_keys = false;  ///< a new key of the cluster is RSA-2048, not Ed25519

  core::SlicePolicy slices;  ///< what consumers get; a ConfigMap changes it while the process runs

  /// Consumers get no more than their Quotas: ShadowPods are counted when they are created, and ended with their Quota.
  bool enforce_resources = true;
  bool reflect_ips = true;  ///< false: pods at home show no addresses
  int pod_workers = 64;     ///< pods reconciled at a time, per provider
};

}  // namespace liqo::controllers
