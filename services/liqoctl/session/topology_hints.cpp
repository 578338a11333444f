#include "session/topology_hints.hpp"

#include "liqo/api/kinds.hpp"
#include "model/check/topology_hints.hpp"

namespace liqoctl {

asio::awaitable<Result<std::string>> look_at_topology_hints(Cluster& cluster, std::vector<Object> nodes) {
  const auto hintless = model::hintless_nodes(nodes);
  if (hintless.empty()) co_return std::string();
  KUBE_CO_TRY(services, co_await cluster.list(kube::resources::services, ""));
  co_return model::lost_hints_in_words(hintless, services);
}

asio::awaitable<void> warn_of_lost_hints(Cluster& cluster) {
  auto nodes = co_await cluster.list(kube::resources::nodes, "");
  if (!nodes) co_return;
  const auto lost = co_await look_at_topology_hints(cluster, std::move(*nodes));
  if (lost && !lost->empty()) cluster.output().warn(cluster.scope(), *lost);
}

}  // namespace liqoctl
