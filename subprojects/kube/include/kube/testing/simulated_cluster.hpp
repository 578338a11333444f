// One API server in memory and one process's way to it, in virtual time. Needs the room `client`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kube/async/task_group.hpp"
#include "kube/client/api.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Which cluster is simulated, and which process asks it.
struct ClusterSettings {
  std::string name = "milan";             ///< of the cluster, for failures, logs and metrics
  std::string actor = "client";           ///< the user as whom the process asks
  std::string component = "client";       ///< the source of its Events (OneCluster)
  std::uint64_t seed = 1;                 ///< of the simulation
  std::optional<std::uint64_t> random{};  ///< seed of the process's own randomness; not set: that of the simulation
  async::TaskGroup::OnFailure on_failure = async::TaskGroup::OnFailure::cancel_all;  ///< of a task of `group`
};

/// The set-up of a test whose subject asks an API server; a test with more of its own derives from it. `Transport` is
/// made with the SimLink: a test may have one of its own, which sees, changes or refuses requests before they leave.
///
/// Lifetime: call stop() before anything goes that was spawned in `group`, so in the destructor of what derives from
/// this.
template <class Transport = SimTransport>
struct BasicSimulatedCluster {
  explicit BasicSimulatedCluster(const ClusterSettings& settings = {})
      : simulator(settings.seed),
        server(simulator.clock()),
        link(simulator, server, settings.actor),
        transport(link),
        own_random_(settings.random ? std::optional<Random>(std::in_place, *settings.random) : std::nullopt),
        random(own_random_ ? *own_random_ : simulator.random()),
        api(transport, simulator.clock(), random, metrics, {.cluster = settings.name}),
        group(simulator.executor(), settings.on_failure) {}
  ~BasicSimulatedCluster() = default;
  BasicSimulatedCluster(const BasicSimulatedCluster&) = delete;
  BasicSimulatedCluster& operator=(const BasicSimulatedCluster&) = delete;

  /// Ends all that was spawned in `group`.
  void stop() { simulator.run(group.stop()); }
  /// Lets time pass until it holds; false if it does not within the limit.
  bool reaches(const std::function<bool()>& holds, Duration limit = std::chrono::minutes(1)) {
    return simulator.run_until(holds, limit) == Simulator::End::reached;
  }

  Simulator simulator;
  FakeApiServer server;
  SimLink link;
  Transport transport;

 private:
  std::optional<Random> own_random_;

 public:
  Random& random;
  Metrics metrics;
  Api api;
  async::TaskGroup group;
};

using SimulatedCluster = BasicSimulatedCluster<>;

}  // namespace kube::testing
