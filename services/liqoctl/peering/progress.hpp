// The next step of a cluster's peerings.
// Tested by test/unit/liqoctl/commands/install_test.cpp.
#pragma once

#include <string>

#include "session/cluster.hpp"

namespace liqoctl {

/// The next step, as model::next_step() words it; "" also if this user may not read what it depends on.
asio::awaitable<std::string> find_next_step(Cluster& cluster);

/// The next step right after a peering with that provider, of which the cluster may not show everything yet; "" also if
/// this user may not read what it depends on.
asio::awaitable<std::string> find_step_after_peering(Cluster& consumer, std::string provider);

}  // namespace liqoctl
