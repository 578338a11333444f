#include "session/find_one.hpp"

#include <algorithm>
#include <tuple>

#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"

namespace liqoctl {

using kube::Errc;

asio::awaitable<Result<kube::ObjectKey>> find_one(Cluster& cluster, kube::Resource resource, std::string name,
                                                  std::string peer) {
  std::string selector;
  if (!peer.empty()) selector = model::about(peer);
  KUBE_CO_TRY(found, co_await cluster.list(resource, cluster.flags().ns, selector, kube::name_is(name)));
  const std::string what = std::string(resource.kind) + " " + name;
  if (found.empty())
    co_return kube::fail(Errc::missing, "there is no " + what + (peer.empty() ? "" : " of " + peer) + " in cluster " +
                                            cluster.api().cluster() + " (liqoctl get " +
                                            kube::lower_case(resource.kind) + " lists what there is)");
  if (found.size() > 1) {
    const std::string places = kube::join(found | std::views::transform(&Object::ns), ", ");
    co_return kube::fail(Errc::invalid_input, what + " is in several namespaces: choose by --namespace from " + places);
  }
  co_return found.front().key();
}

asio::awaitable<Result<std::vector<Object>>> list_peers(Cluster& cluster) {
  auto all = co_await cluster.list(liqo::api::kinds::foreign_clusters, "");
  const auto age = [](const Object& one) { return std::tuple(one.creation_timestamp(), one.name()); };
  if (all) std::ranges::sort(*all, {}, age);
  co_return all;
}

std::string describe_unknown_peer(const std::string& name, const std::vector<Object>& peers) {
  const auto id_of = [](const Object& peer) { return kube::printable(kube::string_at(peer.spec(), {"clusterID"})); };
  const std::string ids = kube::join(peers | std::views::transform(id_of), ", ");
  return name + " is not a peer" + (ids.empty() ? ", and there is none yet (liqoctl peer)" : ": the peers are " + ids);
}

asio::awaitable<Result<void>> check_peer(Cluster& cluster, std::string peer) {
  auto all = co_await list_peers(cluster);
  // A user who may not list the peers sees the objects with this peer's label.
  if (!all && (all.error().is_forbidden() || all.error().is_not_found())) co_return Result<void>();
  if (!all) co_return std::unexpected(std::move(all.error()));
  const auto is_it = [&peer](const Object& one) { return kube::string_at(one.spec(), {"clusterID"}) == peer; };
  if (std::ranges::any_of(*all, is_it)) co_return Result<void>();
  co_return kube::fail(Errc::missing, describe_unknown_peer(peer, *all));
}

asio::awaitable<Result<std::string>> find_tenant_namespace(Cluster& cluster, std::string peer) {
  auto found = co_await cluster.existing_tenant_namespace(peer);
  if (found || found.error().code() != Errc::missing) co_return found;
  KUBE_CO_TRYV(co_await check_peer(cluster, peer));
  co_return found;
}

asio::awaitable<Result<std::optional<Object>>> find_peer(Cluster& cluster, std::string peer) {
  KUBE_CO_TRY(all, co_await list_peers(cluster));
  for (Object& object : all)
    if (kube::string_at(object.spec(), {"clusterID"}) == peer) co_return std::move(object);
  co_return std::nullopt;
}

}  // namespace liqoctl
