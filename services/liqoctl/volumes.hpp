// Data of claims that is in other clusters stands in the way of what would delete it there.
#pragma once

#include <string>

#include "session.hpp"

namespace liqoctl {

/// Which volumes are meant: "" = any.
struct VolumesIn {
  std::string ns, cluster;
};

/// Refuses, with a sentence that names the claims, where volumes of StorageClass liqo are there. With `delete_volumes`
/// their claims are deleted instead, and go once no pod uses them.
asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes);

}  // namespace liqoctl
