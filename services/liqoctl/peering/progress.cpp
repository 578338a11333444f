#include "peering/progress.hpp"

#include "kube/k8s/request.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/info/next_step.hpp"
#include "model/selectors.hpp"
#include "peering/peering_users.hpp"
#include "session/find_one.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;

asio::awaitable<std::string> find_next_step(Cluster& cluster) {
  auto peers = co_await list_peers(cluster);
  if (!peers) co_return "";
  auto slices = co_await cluster.list(kinds::resource_slices, "", kube::label_is(liqo::api::labels::replication));
  if (!slices) co_return "";
  auto nodes = co_await cluster.list(kinds::virtual_nodes, "");
  if (!nodes) co_return "";
  auto offloadings = co_await cluster.list(kinds::namespace_offloadings, "");
  if (!offloadings) co_return "";
  auto users = co_await list_peering_users(cluster);
  if (!users) co_return "";
  model::Progress progress{.peers = std::move(*peers),
                           .slices = std::move(*slices),
                           .virtual_nodes = std::move(*nodes),
                           .peering_users = {},
                           .has_offloadings = !offloadings->empty()};
  for (const model::PeeringUser& user : *users) progress.peering_users.push_back(user.consumer);
  co_return model::next_step(progress);
}

asio::awaitable<std::string> find_step_after_peering(Cluster& consumer, std::string provider) {
  auto slices = co_await consumer.list(kinds::resource_slices, "", model::towards(provider));
  if (!slices) co_return "";
  auto nodes = co_await consumer.list(kinds::virtual_nodes, "", model::about(provider));
  if (!nodes) co_return "";
  auto offloadings = co_await consumer.list(kinds::namespace_offloadings, "");
  if (!offloadings) co_return "";
  co_return model::step_after_peering(provider, {.peers = {},
                                                 .slices = std::move(*slices),
                                                 .virtual_nodes = std::move(*nodes),
                                                 .peering_users = {},
                                                 .has_offloadings = !offloadings->empty()});
}

}  // namespace liqoctl
