// Options of an operator for peers, and for how they reach this cluster.
#pragma once

#include <string>

#include "kube/base/time.hpp"

namespace liqo::controllers {

/// The options of liqod about peers, and how they reach this cluster. A default here is that of the option.
struct PeeringSettings {
  std::string pod_cidrs;  ///< the CIDRs of this cluster's pods, which peers can read; "" = none are shown
  kube::Duration foreign_cluster_ping_interval = std::chrono::seconds(15);  ///< 0: peers count as reachable
  kube::Duration foreign_cluster_ping_timeout = std::chrono::seconds(5);    ///< for a peer's answer to a ping
  std::string api_server_override;  ///< host, host:port or URL by which consumers reach the home API server; "" = found
  std::string api_server_fallback;  ///< URL if no control-plane node has an address; "" = none
  std::string ca_pem;               ///< with which consumers verify that server's certificate; "" = their system's CAs
  kube::Duration certificate_validity = std::chrono::hours(24 * 90);  ///< asked of the signer; 0 = its default
  bool rsa_keys = false;  ///< a new key of the cluster is RSA-2048, not Ed25519
  /// A tenant that has ever sent a heartbeat, and none for so long, is cordoned; 0 = never.
  kube::Duration max_tenant_silence{0};
};

}  // namespace liqo::controllers
