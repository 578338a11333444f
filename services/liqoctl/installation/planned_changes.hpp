// What an installation would change in a cluster.
// Tested by test/unit/liqoctl/commands/install_test.cpp.
#pragma once

#include <vector>

#include "model/install/differences.hpp"
#include "session/cluster.hpp"

namespace liqoctl {

/// Asks the API server what applying each of them would make of what is there (server-side apply as a dry run), and
/// which objects apply_installation would remove, unless `only_these`. Nothing is written.
asio::awaitable<Result<std::vector<model::ObjectChange>>> plan_changes(Cluster& cluster,
                                                                       const std::vector<kube::json::value>& manifests,
                                                                       bool only_these = false);

}  // namespace liqoctl
