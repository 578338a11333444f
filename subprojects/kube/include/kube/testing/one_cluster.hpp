// One API server in memory and one process that caches its objects and writes Events, in virtual time. Needs the room
// `runtime`.
// Tested by test/runtime/one_cluster_test.cpp.
#pragma once

#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/testing/simulated_cluster.hpp"

namespace kube::testing {

/// The set-up with which the test of a controller begins: a SimulatedCluster with the caches and the Events of its
/// process. Nothing runs that the test does not spawn in `group`: `informers.run()`, `events.run()`, and its subject.
template <class Transport = SimTransport>
struct BasicOneCluster : BasicSimulatedCluster<Transport> {
  explicit BasicOneCluster(const ClusterSettings& settings = {})
      : BasicSimulatedCluster<Transport>(settings),
        informers(this->simulator.executor(), this->api, this->metrics),
        events(this->simulator.executor(), this->api, this->metrics, settings.component) {}

  /// The Environment with which parts of the process are made.
  Environment environment() {
    return {this->simulator.executor(), this->simulator.clock(), this->random, this->metrics};
  }

  InformerSet informers;
  EventRecorder events;
};

using OneCluster = BasicOneCluster<>;

}  // namespace kube::testing
