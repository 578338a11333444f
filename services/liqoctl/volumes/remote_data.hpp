// Refuses to delete what holds data of claims in other clusters.
// Tested by test/cluster/storage/test_volumes.py.
#pragma once

#include <string>
#include <vector>

#include "core/storage/remote_data.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// Which volumes are meant: "" = any. `way_out` says how their data can be given up.
struct VolumesIn {
  std::string ns, cluster;
  std::string way_out = "give --delete-volumes";
};

/// The data in other clusters: of volumes, and of claims that were begun there.
asio::awaitable<Result<std::vector<liqo::core::storage::RemoteData>>> find_remote_data(Cluster& cluster,
                                                                                       VolumesIn where);

/// Refuses where there are such volumes of StorageClass liqo, with a sentence that names the claims. With
/// `delete_volumes` their claims are deleted instead, which takes until no pod uses them, and so are PersistentVolumes
/// that would outlast them.
asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes);

}  // namespace liqoctl
