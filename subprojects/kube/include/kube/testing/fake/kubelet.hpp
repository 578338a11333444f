// The kubelets of a simulated cluster: bound pods run, restart, end and stop as their annotations and policies say.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// How long starts, stops and reports take, and on which nodes.
struct FakeKubeletSettings {
  std::string node_prefix;  ///< runs the pods of the nodes whose names start so
  Duration start_low = std::chrono::milliseconds(10), start_high = std::chrono::seconds(3);
  Duration stop_low = std::chrono::milliseconds(10), stop_high = std::chrono::seconds(5);
  Duration report_high{};  ///< containers run for up to so long before the pod's status says so
};

/// The containers of a pod were started.
struct FakeRun {
  TimePoint at;
  Tree pod;  ///< as it was then
};

/// Writes to pods/status what a kubelet writes. A pod's annotations `sim.kube/run-seconds` and `sim.kube/exit-code` say
/// when and how its containers end (a second run ends well, and takes at least a second). If the first is missing or no
/// whole number from 0 on that the clock can count, they run for ever. Attached to its server for good; must live as
/// long as the simulator runs.
class FakeKubelet {
 public:
  static constexpr std::string_view run_seconds = "sim.kube/run-seconds";
  static constexpr std::string_view exit_code = "sim.kube/exit-code";
  static constexpr std::string_view actor = "kubelet";

  FakeKubelet(Simulator& simulator, FakeApiServer& server, FakeKubeletSettings settings);

  /// Ends the containers of a pod at once; they are restarted if its policy says so.
  void end_containers(const ObjectKey& key, std::int64_t code);
  /// Evicts a pod: its phase is Failed, with the reason Evicted.
  void evict(const ObjectKey& key);
  /// Every start of a pod there ever was, in order; restarts within a pod are not in it.
  const std::vector<FakeRun>& runs() const { return runs_; }

 private:
  void seen(const FakeChange& change);
  void start(const ObjectKey& key, const std::string& uid);
  void report_start(const ObjectKey& key, const std::string& uid, const std::string& started);
  void stop(const ObjectKey& key, const std::string& uid);
  void end(const ObjectKey& key, const std::string& uid, std::int64_t generation, std::int64_t code);
  /// The pod, if it is still the one with that UID.
  Tree pod(const ObjectKey& key, std::string_view uid);
  void end_later(const ObjectKey& key, const json::object& pod, std::int64_t restarts);
  void write_status(const ObjectKey& key, const std::function<void(json::object&)>& change);

  Simulator& simulator_;
  FakeApiServer& server_;
  FakeKubeletSettings settings_;
  Random random_;
  std::map<std::string, bool> stopping_;  ///< by UID of the pods of this kubelet; true once it stops
  std::set<std::string> unreported_;      ///< UIDs of pods that run while their status does not say so
  std::vector<FakeRun> runs_;
  int next_ip_ = 0;
};

}  // namespace kube::testing
