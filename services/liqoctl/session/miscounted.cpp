#include "session/miscounted.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/check/miscounted.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;

constexpr kube::Resource stateful_sets{"apps", "v1", "statefulsets", "StatefulSet"};

}  // namespace

asio::awaitable<Result<std::string>> look_at_miscounts(Cluster& cluster, std::vector<Object> nodes) {
  if (std::ranges::none_of(nodes, [](const Object& node) {
        return node.label(liqo::api::labels::type) == liqo::api::labels::type_virtual_node;
      }))
    co_return std::string();
  std::vector<Object> workloads;
  for (const kube::Resource& kind : {kinds::deployments, stateful_sets}) {
    auto found = co_await cluster.list(kind, "");
    if (!found && !found.error().is_not_found()) co_return std::unexpected(std::move(found.error()));
    if (found) std::ranges::move(*found, std::back_inserter(workloads));
  }
  std::set<std::string, std::less<>> offloaded;
  KUBE_CO_TRY(offloadings, co_await cluster.list(kinds::namespace_offloadings, ""));
  for (const Object& offloading : offloadings)
    if (kube::string_at(offloading.spec(), {"podOffloadingStrategy"}) != "Local") offloaded.emplace(offloading.ns());
  co_return model::miscounts_in_words(workloads, nodes, offloaded);
}

asio::awaitable<void> warn_of_miscounts(Cluster& cluster) {
  auto nodes = co_await cluster.list(kube::resources::nodes, "");
  if (!nodes) co_return;
  const auto miscounts = co_await look_at_miscounts(cluster, std::move(*nodes));
  if (miscounts && !miscounts->empty()) cluster.output().warn(cluster.scope(), *miscounts);
}

}  // namespace liqoctl
