// The part of a simulated kube-controller-manager that counts what PodDisruptionBudgets allow.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Fills the status of each PodDisruptionBudget some time after it, or a pod of its namespace, has changed, and has the
/// server serve the kind, so that its evictions go by the budgets. It knows `minAvailable` as an integer and selectors
/// of `matchLabels`. As in Kubernetes, a status is stored only over the version of the budget that it was counted for,
/// and a pod in `status.disruptedPods` does not count as healthy until two minutes after the time there. Attached to
/// its server for good; must live as long as the simulator runs.
class FakeDisruptionController {
 public:
  static constexpr std::string_view actor = "disruption-controller";

  FakeDisruptionController(Simulator& simulator, FakeApiServer& server,
                           Duration delay_high = std::chrono::milliseconds(100));

  /// From now on a count comes so late at most.
  void set_delay(Duration delay_high) { delay_high_ = delay_high; }

 private:
  void seen(const FakeChange& change);
  void count_later(const ObjectKey& key);
  void count(const ObjectKey& key);
  /// Counts once more when the first of these entries does not hold any longer.
  void count_after(const ObjectKey& key, const json::object& disrupted);

  Simulator& simulator_;
  FakeApiServer& server_;
  Duration delay_high_;
  Random random_;
  std::set<ObjectKey> due_;                ///< budgets that are counted in a moment
  std::map<ObjectKey, TimePoint> expiry_;  ///< when a budget is counted without a change
};

}  // namespace kube::testing
