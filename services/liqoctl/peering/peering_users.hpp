// The peering users of a provider.
// Tested by test/unit/liqoctl/commands/install_test.cpp.
#pragma once

#include "model/peer/peering_users.hpp"
#include "session/cluster.hpp"

namespace liqoctl {

asio::awaitable<Result<std::vector<model::PeeringUser>>> list_peering_users(Cluster& cluster);

}  // namespace liqoctl
