#include "find_one.hpp"

#include <algorithm>
#include <tuple>

#include "kube/base/text.hpp"
#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"

namespace liqoctl {

using kube::Errc;

asio::awaitable<Result<kube::ObjectKey>> find_one(Cluster& cluster, kube::Resource resource, std::string name,
                                                  std::string peer) {
  std::string selector;
  if (!peer.empty()) selector = model::about(peer);
  auto found = co_await cluster.list(resource, cluster.flags().ns, selector, kube::name_is(name));
  if (!found) co_return std::unexpected(std::move(found.error()));
  const std::string what = std::string(resource.kind) + " " + name;
  if (found->empty())
    co_return kube::fail(Errc::missing, "there is no " + what + (peer.empty() ? "" : " of " + peer) + " in cluster " +
                                            cluster.api().cluster() + " (liqoctl get " +
                                            kube::lower_case(resource.kind) + " lists what there is)");
  if (found->size() > 1) {
    const std::string places = kube::join(*found | std::views::transform(&Object::ns), ", ");
    co_return kube::fail(Errc::invalid_input, what + " is in several namespaces: choose by --namespace from " + places);
  }
  co_return found->front().key();
}

asio::awaitable<Result<std::vector<Object>>> list_peers(Cluster& cluster) {
  auto all = co_await cluster.list(liqo::api::kinds::foreign_clusters, "");
  const auto age = [](const Object& one) { return std::tuple(one.creation_timestamp(), one.name()); };
  if (all) std::ranges::sort(*all, {}, age);
  co_return all;
}

asio::awaitable<Result<std::optional<Object>>> find_peer(Cluster& cluster, std::string peer) {
  auto all = co_await list_peers(cluster);
  if (!all) co_return std::unexpected(std::move(all.error()));
  for (Object& object : *all)
    if (kube::string_at(object.spec(), {"clusterID"}) == peer) co_return std::move(object);
  co_return std::nullopt;
}

}  // namespace liqoctl
