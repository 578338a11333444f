// Checks the number of requests of a process to an API server.
#pragma once

#include <vector>

#include "invariants.hpp"
#include "kube/testing/link/sim_link.hpp"

namespace liqo::sim {

/// Checks that the number of requests over a link is in proportion to the changes: at most two requests for each change
/// at the server, and 30 in a minute for each informer and controller.
std::vector<Violation> check_requests(const kube::testing::SimLink& link, kube::testing::FakeApiServer& server);

}  // namespace liqo::sim
