// The present installation of Liqo in a cluster, and its installer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// The present installation of Liqo in a cluster.
struct Installed {
  std::string ns;                                 ///< the namespace that liqod's bindings name; "" = not installed
  std::string helm_release;                       ///< the release that it belongs to; "" = none
  bool helm_installs = false;                     ///< Helm has begun, and nothing of the chart is there yet
  std::string go_liqo;                            ///< namespace in which the Go version is installed; "" = none
  std::vector<kube::ObjectKey> virtual_kubelets;  ///< Deployments of the Go version, which outlive its removal
};
asio::awaitable<Result<Installed>> look_for_installation(Cluster& cluster);

/// The Deployments in which virtual kubelets of the Go version run: one for each VirtualNode that the Go version
/// served.
asio::awaitable<Result<std::vector<kube::ObjectKey>>> find_virtual_kubelets(Cluster& cluster);

/// Refuses an installation by another installer, or of another version. `command` is the command for Helm's user
/// instead.
Result<void> check_installers(const Installed& there, const std::string& ns, std::string_view command);

}  // namespace liqoctl
