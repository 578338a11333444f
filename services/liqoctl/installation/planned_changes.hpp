// The changes that an installation would make in a cluster.
// Tested by test/unit/liqoctl/commands/install_test.cpp.
#pragma once

#include <vector>

#include "model/install/differences.hpp"
#include "session/cluster.hpp"

namespace liqoctl {

/// Asks the API server how applying each manifest would change its object (server-side apply as a dry run). Unless
/// `only_these`, it also finds the objects that apply_installation() would remove. Writes nothing.
asio::awaitable<Result<std::vector<model::ObjectChange>>> plan_changes(Cluster& cluster,
                                                                       const std::vector<kube::json::value>& manifests,
                                                                       bool only_these = false);

}  // namespace liqoctl
