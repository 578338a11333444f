// Workloads of a cluster that count a virtual node in what they are spread over, although their pods may not run there.
// Tested by test/unit/liqoctl/commands/check_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "session/cluster.hpp"

namespace liqoctl {

/// The sentence about them (model::miscounts_in_words); "" if there are none. Errors: among others that the user may
/// not list Deployments, StatefulSets or NamespaceOffloadings.
asio::awaitable<Result<std::string>> look_at_miscounts(Cluster& cluster, std::vector<Object> nodes);

/// Warns of them. A user who may not list what it takes gets no warning.
asio::awaitable<void> warn_of_miscounts(Cluster& cluster);

}  // namespace liqoctl
