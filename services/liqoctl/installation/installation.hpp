// An installation of Liqo in a cluster: what is there already, putting it in, and taking it out.
#pragma once

#include <string>
#include <vector>

#include "session.hpp"
#include "wait.hpp"

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

/// Refuses a cluster that is too old, and a user who may not write one of the kinds. Nothing is written.
asio::awaitable<Result<void>> check_cluster(Cluster& cluster, const std::vector<kube::json::value>& manifests);

/// Applies all by server-side apply, in their order, and waits for kinds to be served. A kind of a newer version, which
/// takes more, stays as it is.
asio::awaitable<Result<void>> apply_all(Session& session, Cluster& cluster,
                                        const std::vector<kube::json::value>& manifests);
/// As apply_all, and removes what an earlier version or other values have put there and these do not.
asio::awaitable<Result<void>> apply_installation(Session& session, Cluster& cluster,
                                                 const std::vector<kube::json::value>& manifests);

/// Whether every replica is there and answers; if not, what holds it up.
asio::awaitable<Result<Look>> look_at_daemon(Cluster& cluster);
/// Waits until every replica is there and answers, saying what holds it up.
asio::awaitable<Result<void>> wait_for_daemon(Session& session, Cluster& cluster);

/// Removes the API of consumers' figures, and the role that it depends on. This comes before the daemon goes: while
/// nobody answers behind that API, Kubernetes removes no namespace.
asio::awaitable<Result<void>> remove_figures(Cluster& cluster);

/// Removes all that apply_installation put there except the kinds: the API of figures, then the daemon, then the rest.
/// Waits for the webhooks to go.
asio::awaitable<Result<void>> remove_installation(Session& session, Cluster& cluster);

/// Removes the kinds, with all objects of them.
asio::awaitable<Result<void>> remove_kinds(Session& session, Cluster& cluster,
                                           const std::vector<kube::json::value>& manifests);

}  // namespace liqoctl
