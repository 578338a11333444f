// What forging needs to know beside the object itself: who the two clusters are, and how the node is set up.
#pragma once

#include <string>
#include <vector>

#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

/// Consumer and provider by cluster ID. Both are on every reflected object as labels.
struct ClusterPair {
  std::string local;
  std::string remote;
  bool operator==(const ClusterPair&) const = default;
};

/// Which offloaded pods get what they need to talk to the API server of this consumer.
enum class ApiServerMode {
  never,
  needed,  ///< those that run as a service account of their own or are annotated, where its address is known
  always,  ///< all, as with the Go version
};

/// How one pod of this consumer reaches its API server.
enum class ApiServerSupport {
  disabled,   ///< not at all: service-account volumes are emptied
  token_api,  ///< tokens are requested here and reflected as the Secret `<pod>-token`
  remote,     ///< the pod talks to the provider's API server with a service account there (per-pod annotation)
};

class HomeEndpoints;

/// Everything about one virtual node that forging of its pods depends on.
struct ForgingContext {
  ClusterPair clusters;
  std::string node_name;
  api::OffloadingPatch patch;  ///< with all that is left out of copies, whoever says so

  ApiServerMode api_server_mode = ApiServerMode::never;
  std::string api_server_host;  ///< by which pods at the provider reach it, overrides `kubernetes.default`; "" = none
  std::string api_server_port;  ///< overrides the local service port, "" = none
  std::string kubernetes_service_port = "443";
  std::vector<std::string> api_server_ips;  ///< `status.ip` of the IP objects of type api-server; may be empty

  std::string ingress_class;  ///< the provider's, for reflected Ingresses; "" = none is named
  /// For reflected EndpointSlices; outlives whoever forges. Null: they are not reflected.
  const HomeEndpoints* endpoints = nullptr;
  std::string load_balancer_class;  ///< the provider's, for reflected Services of type LoadBalancer; "" = none is named
};

}  // namespace liqo::core
