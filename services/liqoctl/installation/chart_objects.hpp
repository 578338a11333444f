// The objects of the chart in a cluster: their kinds, and those that are left over.
#pragma once

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// The field manager of everything that is installed.
inline constexpr std::string_view field_manager = "liqoctl";

/// Errors: Errc::unsupported for a kind that no chart of this program has.
Result<kube::Resource> resource_of(const kube::json::value& manifest);

/// An object by its kind.
using Place = std::pair<std::string_view, kube::ObjectKey>;
struct ChartObject {
  kube::Resource kind;
  kube::ObjectKey key;
};
/// The places of manifests.
std::set<Place> places_of(const std::vector<kube::json::value>& manifests);
/// The objects of the chart that are in the cluster but not in `kept`, in the order of their removal.
asio::awaitable<Result<std::vector<ChartObject>>> find_all_but(Cluster& cluster, std::set<Place> kept);

/// Whether the CustomResourceDefinition in the cluster allows more than this one, which is reported. It is not replaced
/// then, because objects would lose the fields that a newer version wrote.
asio::awaitable<Result<bool>> would_narrow(Cluster& cluster, const Object& definition);

}  // namespace liqoctl
