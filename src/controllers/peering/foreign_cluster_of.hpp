// What the ForeignClusters of one cluster say together, where there may be several.
#pragma once

#include <optional>
#include <string_view>

#include "controllers/is_older.hpp"
#include "liqo/api/foreign_cluster.hpp"

namespace liqo::controllers {

/// The ForeignCluster of a cluster: of several the oldest counts, here as for its status.
inline std::optional<kube::Object> foreign_cluster_of(const kube::StoredObjects& foreign_clusters,
                                                      std::string_view cluster) {
  return oldest_of(foreign_clusters,
                   [cluster](const kube::Object& found) { return api::ForeignCluster(found).cluster_id() == cluster; });
}

/// Whether people have declared a cluster permanently unreachable. One ForeignCluster that says so is enough: people
/// mark the one that they see.
inline bool is_lost(const kube::StoredObjects& foreign_clusters, std::string_view cluster) {
  for (const kube::Object& found : foreign_clusters) {
    const api::ForeignCluster view(found);
    if (view.cluster_id() == cluster && view.is_permanently_unreachable()) return true;
  }
  return false;
}

}  // namespace liqo::controllers
