#include "session/daemon_sets.hpp"

#include "core/offloading/daemon_sets.hpp"
#include "liqo/api/kinds.hpp"
#include "model/check/daemon_sets.hpp"

namespace liqoctl {

asio::awaitable<Result<DaemonSetSnapshot>> look_at_daemon_sets(Cluster& cluster) {
  DaemonSetSnapshot snapshot;
  std::vector<Object> offloadings;
  for (const auto& [kind, into] :
       {std::pair{liqo::core::daemon_sets, &snapshot.all}, std::pair{kube::resources::nodes, &snapshot.nodes},
        std::pair{liqo::api::kinds::namespace_offloadings, &offloadings}}) {
    auto found = co_await cluster.list(kind, "");
    // Before an installation the cluster does not know NamespaceOffloadings.
    if (!found && !found.error().is_not_found()) co_return std::unexpected(std::move(found.error()));
    if (found) *into = std::move(*found);
  }
  std::set<std::string, std::less<>> offloaded;
  for (const Object& offloading : offloadings) offloaded.emplace(offloading.ns());
  snapshot.sitting = model::sitting_daemon_sets(snapshot.all, snapshot.nodes, offloaded);
  snapshot.elsewhere = model::elsewhere_daemon_sets(snapshot.all, snapshot.nodes, offloadings);
  co_return snapshot;
}

asio::awaitable<void> warn_of_daemon_sets(Cluster& cluster) {
  const auto snapshot = co_await look_at_daemon_sets(cluster);
  if (!snapshot || snapshot->sitting.empty()) co_return;
  cluster.output().warn(cluster.scope(),
                        "each virtual node gets a pod of these DaemonSets, which tolerate everything, books what it "
                        "requests, and never runs: " +
                            model::daemon_sets_in_words(snapshot->sitting) +
                            "; keep them off with: liqoctl exclude "
                            "daemonsets");
}

asio::awaitable<void> warn_of_offloaded_daemon_sets(Cluster& cluster, std::string ns) {
  const auto sets = co_await cluster.list(liqo::core::daemon_sets, ns);
  if (!sets || sets->empty()) co_return;
  const auto offloadings = co_await cluster.list(liqo::api::kinds::namespace_offloadings, ns);
  const auto nodes = co_await cluster.list(kube::resources::nodes, "");
  if (!offloadings || !nodes) co_return;
  const std::vector<Object> elsewhere = model::elsewhere_daemon_sets(*sets, *nodes, *offloadings);
  if (!elsewhere.empty()) cluster.output().warn(cluster.scope(), model::warn_of_elsewhere(elsewhere));
}

}  // namespace liqoctl
