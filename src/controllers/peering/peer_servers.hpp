// Finds the tenant namespaces with a ControlPlane Secret for a peer, and the server in its kubeconfig.
// Tested by test/unit/controllers/peering/peer_servers_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kube/runtime/store.hpp"

namespace liqo::controllers {

/// Index of Secrets by the cluster of whose API server they have a kubeconfig.
inline constexpr std::string_view secrets_by_provider = "control-plane-of";

/// An index over the Secrets of all tenant namespaces. A kubeconfig is parsed once for each state of its Secret,
/// however often server() is called. One thread.
class PeerServers {
 public:
  /// Notes that Secrets for a cluster may have come or gone in a tenant namespace. The store has the index
  /// `secrets_by_provider`.
  void see(const std::string& ns, const kube::Store& secrets, std::string_view cluster);
  /// Forgets a namespace whose Secrets are not read any more.
  void forget(const std::string& ns);

  /// The first tenant namespace with a Secret for that cluster.
  std::optional<std::string> namespace_of(std::string_view cluster) const;
  /// The server to which the Secret for `peer` (tenant namespace and cluster) leads, "" if its kubeconfig cannot be
  /// parsed. `first` returns the Secret that counts, and is called only if a Secret for the peer has changed.
  std::string server(const kube::ObjectKey& peer, const kube::Store& secrets,
                     const std::function<kube::Object()>& first);
  /// How many kubeconfigs were parsed so far.
  std::uint64_t reads() const { return reads_; }

 private:
  struct Known {
    std::string state;  ///< UIDs and versions of the Secrets
    std::string server;
  };
  std::map<std::string, std::set<std::string>, std::less<>> namespaces_;  ///< by cluster, never empty
  std::map<kube::ObjectKey, Known> servers_;
  std::uint64_t reads_ = 0;
};

}  // namespace liqo::controllers
