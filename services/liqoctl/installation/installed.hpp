// What a cluster has of Liqo already, and who has put it there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// What a cluster has of Liqo.
struct Installed {
  std::string ns;                                 ///< where liqod's rights point to; "" = it is not installed
  std::string helm_release;                       ///< that it belongs to; "" = to none
  bool helm_installs = false;                     ///< Helm has begun, and nothing of the chart is there yet
  std::string go_liqo;                            ///< namespace in which the Go version is installed; "" = none
  std::vector<kube::ObjectKey> virtual_kubelets;  ///< Deployments of the Go version, which outlive its removal
};
asio::awaitable<Result<Installed>> look_for_installation(Cluster& cluster);

/// The Deployments in which virtual kubelets of the Go version run: one for each VirtualNode that was its own.
asio::awaitable<Result<std::vector<kube::ObjectKey>>> find_virtual_kubelets(Cluster& cluster);

/// Refuses what another installer, or another version, has put there; `command` is what Helm's user types instead.
Result<void> check_installers(const Installed& there, const std::string& ns, std::string_view command);

}  // namespace liqoctl
