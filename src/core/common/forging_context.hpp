// The context of forging, beside the object itself: the two clusters and the settings of the virtual node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "liqo/api/virtual_node.hpp"

namespace liqo::core {

/// The cluster IDs of consumer and provider. Every reflected object has both as labels.
struct ClusterPair {
  std::string local;
  std::string remote;
  bool operator==(const ClusterPair&) const = default;
};

/// Which offloaded pods get tokens and the address of this consumer's API server.
enum class ApiServerMode {
  never,
  needed,  ///< pods with a service account of their own or the annotation, if the address is known
  always,  ///< all pods, as with the Go version
};

/// Whether projected tokens that name an audience other than this consumer's API server come from here.
enum class AudienceTokens { never, always };
/// The audiences of an API server.
using Audiences = std::set<std::string, std::less<>>;

/// Which cluster's trust bundles (ClusterTrustBundles) offloaded pods mount.
enum class TrustBundles { provider, home };

/// Which cluster's signers make the certificates (PodCertificateRequests) of offloaded pods.
enum class PodCertificates { provider, home };

/// How one pod of this consumer reaches its API server.
enum class ApiServerSupport {
  disabled,   ///< not at all: service-account volumes are emptied
  token_api,  ///< tokens are requested here and reflected as the Secret `<pod>-token`
  remote,     ///< the pod talks to the provider's API server with a service account there (per-pod annotation)
};

namespace reflection {
class HomeEndpoints;
}

/// Everything about one virtual node that the forging of its pods and reflected objects depends on.
struct ForgingContext {
  ClusterPair clusters;
  std::string node_name;
  api::OffloadingPatch patch;  ///< with every key that is left out of copies, from all sources
  /// Keys that copies of Secrets, ConfigMaps and claims keep, although controllers of the provider may take orders by
  /// them.
  std::vector<std::string> kept_keys;

  ApiServerMode api_server_mode = ApiServerMode::never;
  /// The API server as pods at the provider reach it, in place of `kubernetes.default`; "" = not known.
  std::string api_server_host;
  std::string api_server_port;  ///< in place of the local Service's port; "" = that one
  std::string kubernetes_service_port = "443";
  std::vector<std::string> api_server_ips;  ///< `status.ip` of the IP objects of type api-server; may be empty
  AudienceTokens audience_tokens = AudienceTokens::never;
  /// The audiences of the API server at home; outlives this context. Null or empty = they are not known.
  const Audiences* home_audiences = nullptr;
  TrustBundles trust_bundles = TrustBundles::provider;
  /// Whether this process reads the trust bundles of home; outlives this context. Null or false = it does not (yet).
  const bool* reads_trust_bundles = nullptr;
  PodCertificates pod_certificates = PodCertificates::provider;
  /// Whether home takes requests for certificates of pods; outlives this context. Null or false = it does not (yet).
  const bool* requests_certificates = nullptr;

  std::string ingress_class;  ///< the provider's class for reflected Ingresses; "" = none
  /// For reflected EndpointSlices; outlives this context. Null = they are not reflected.
  const reflection::HomeEndpoints* endpoints = nullptr;
  std::string load_balancer_class;  ///< the provider's class for reflected Services of type LoadBalancer; "" = none
  /// The twin of each namespace that is reflected to the provider; outlives this context. Null = they are not known.
  const std::map<std::string, std::string>* twins = nullptr;
  /// Pods at the provider resolve the names of home, with the namespaces of home in them.
  bool knows_home_names = false;
};

}  // namespace liqo::core
