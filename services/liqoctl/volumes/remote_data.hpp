// Refuses to delete objects that hold data of claims in other clusters.
// Tested by test/cluster/storage/test_volumes.py.
#pragma once

#include <string>
#include <vector>

#include "core/storage/remote_data.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// The volumes to look for: "" = any. `way_out` names the way to give up their data.
struct VolumesIn {
  std::string ns, cluster;
  std::string way_out = "give --delete-volumes";
};

/// The data in other clusters: of volumes, and of claims whose volumes were begun there.
asio::awaitable<Result<std::vector<liqo::core::storage::RemoteData>>> find_remote_data(Cluster& cluster,
                                                                                       VolumesIn where);

/// Refuses if there are such volumes of StorageClass liqo, with a sentence that names the claims. With `delete_volumes`
/// it deletes their claims instead, which takes until no pod uses them, and PersistentVolumes that would outlast them.
asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes);

}  // namespace liqoctl
