// Moves the data of a claim between clusters: it is copied and compared, then the claim takes over the volume with the
// copy. After any interruption one of both volumes is whole, and the same command continues.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>

#include "session/session.hpp"

namespace liqoctl {

struct VolumeMove {
  std::string claim, node, image;
  bool keep_source = false;
};

asio::awaitable<Result<void>> move_volume(Session& session, Cluster& cluster, VolumeMove asked);

}  // namespace liqoctl
