// The scheduler of a simulated cluster.
#pragma once

#include <functional>
#include <string>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Binds pods after a short time. Attached to its server for good; must live as long as the simulator runs.
class FakeScheduler {
 public:
  /// Returns the node of a pod; "" = asked again a second later.
  using Choice = std::function<std::string(const json::object& pod)>;
  FakeScheduler(Simulator& simulator, FakeApiServer& server, Choice choice);

 private:
  void consider(const ObjectKey& key, const std::string& uid);

  Simulator& simulator_;
  FakeApiServer& server_;
  Choice choice_;
  Random random_;
};

}  // namespace kube::testing
