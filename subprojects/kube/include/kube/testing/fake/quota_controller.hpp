// The part of a simulated kube-controller-manager that counts what ResourceQuotas bound.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Fills the status of each ResourceQuota a moment after it, or what it counts, has changed. It counts
/// `count/<plural>[.<group>]`, `pods` and `requests.<name>` of containers, and reports 0 for everything else. It
/// refuses nothing: that is the task of admission, which the server does not have. Attached to its server for good;
/// must live as long as the simulator runs.
class FakeQuotaController {
 public:
  FakeQuotaController(Simulator& simulator, FakeApiServer& server, Duration delay = std::chrono::milliseconds(20));

  /// From now on nothing is counted, as if no kube-controller-manager ran.
  void stop() { stopped_ = true; }

 private:
  void seen(const FakeChange& change);
  void count(const std::string& ns);

  Simulator& simulator_;
  FakeApiServer& server_;
  Duration delay_;
  bool stopped_ = false;
  std::map<std::string, std::set<ObjectKey>> quotas_;  ///< by namespace
  std::set<std::string> due_;                          ///< namespaces that are counted in a moment
};

}  // namespace kube::testing
