// A ReplicaSet of a simulated cluster: keeps a number of pods.
#pragma once

#include <string>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

/// Keeps `replicas` pods that are neither ended nor being deleted, as a ReplicaSet does. Attached to its server for
/// good; must live as long as the simulator runs.
class FakeReplicaSet {
 public:
  /// `pod` is the template: labels, annotations and spec; its name becomes the base of the pods' names.
  FakeReplicaSet(Simulator& simulator, FakeApiServer& server, json::object pod, int replicas);
  void scale(int replicas);
  int replicas() const { return replicas_; }
  const std::string& uid() const { return uid_; }

 private:
  void reconcile();
  void reconcile_later();

  Simulator& simulator_;
  FakeApiServer& server_;
  json::object template_;
  std::string ns_;
  std::string name_;
  std::string uid_;
  int replicas_;
  Random random_;
  bool is_due_ = false;
};

}  // namespace kube::testing
