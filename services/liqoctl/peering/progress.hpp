// How far a cluster has come with its peerings.
// Tested by test/unit/liqoctl/commands/install_test.cpp.
#pragma once

#include <string>

#include "session/cluster.hpp"

namespace liqoctl {

/// What is due next, as model::next_step says it; "" also where this user may not see that.
asio::awaitable<std::string> find_next_step(Cluster& cluster);

/// Likewise at the end of a peering with that provider, of which the cluster may not show everything yet.
asio::awaitable<std::string> find_step_after_peering(Cluster& consumer, std::string provider);

}  // namespace liqoctl
