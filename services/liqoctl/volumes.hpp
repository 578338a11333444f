// Data of claims that is in other clusters stands in the way of what would delete it there.
#pragma once

#include <string>
#include <vector>

#include "liqo/core/storage/remote_data.hpp"
#include "session.hpp"

namespace liqoctl {

/// Which volumes are meant: "" = any. Where they stand in the way, `way_out` says how their data can be given up.
struct VolumesIn {
  std::string ns, cluster;
  std::string way_out = "give --delete-volumes";
};

/// The data that is in other clusters: of volumes, and of claims that were begun there.
asio::awaitable<Result<std::vector<liqo::core::storage::RemoteData>>> find_remote_data(Cluster& cluster,
                                                                                       VolumesIn where);

/// Refuses, with a sentence that names the claims, where volumes of StorageClass liqo are there. With `delete_volumes`
/// their claims are deleted instead, and go once no pod uses them, and so are PersistentVolumes that would outlast
/// them.
asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes);

}  // namespace liqoctl
