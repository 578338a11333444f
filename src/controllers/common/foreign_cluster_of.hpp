// Looks up the ForeignClusters of one cluster, of which there may be several.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/common/is_older.hpp"
#include "kube/runtime/informer_set.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

/// Index of ForeignClusters by the cluster ID that they name.
inline constexpr std::string_view foreign_clusters_by_id = "cluster-id";

inline void index_foreign_cluster(const kube::Object& foreign_cluster, std::vector<std::string>& ids) {
  ids.emplace_back(api::ForeignCluster(foreign_cluster).cluster_id());
}

/// The ForeignClusters in this cluster, with the index `foreign_clusters_by_id`.
inline kube::InformerHandle acquire_foreign_clusters(kube::InformerSet& home) {
  kube::InformerHandle handle = home.acquire({.resource = api::kinds::foreign_clusters});
  handle->add_index(std::string(foreign_clusters_by_id), index_foreign_cluster);
  return handle;
}

/// The ForeignCluster of a cluster. Of several the oldest counts, as it does for the status.
inline std::optional<kube::Object> foreign_cluster_of(const kube::Store& foreign_clusters, std::string_view cluster) {
  return oldest_of(foreign_clusters.objects(foreign_clusters_by_id, cluster), [](const auto&) { return true; });
}

/// Whether people have declared a cluster permanently unreachable. One ForeignCluster that says so is enough: people
/// mark the one that they see.
inline bool is_lost(const kube::Store& foreign_clusters, std::string_view cluster) {
  for (const kube::Object& found : foreign_clusters.objects(foreign_clusters_by_id, cluster))
    if (api::ForeignCluster(found).is_permanently_unreachable()) return true;
  return false;
}

}  // namespace liqo::controllers
