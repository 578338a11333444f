// How much a process asks of an API server.
#pragma once

#include <vector>

#include "invariants.hpp"
#include "kube/testing/link/sim_link.hpp"

namespace liqo::sim {

/// Whether what went over a link until now is in proportion to what happened: at most two requests for each change at
/// the server, and 30 in a minute for each informer and controller.
std::vector<Violation> check_requests(const kube::testing::SimLink& link, kube::testing::FakeApiServer& server);

}  // namespace liqo::sim
