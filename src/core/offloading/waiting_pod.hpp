// Why nothing of a pod runs at its provider, for users who ask for its log or want to run a command in it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A pod on a virtual node that a user asks about.
struct AskedPod {
  const kube::Object& local;
  const kube::Object* remote = nullptr;  ///< what complete caches have of its name at the provider; null = nothing
  std::string_view provider;             ///< its cluster ID, for sentences
  bool has_twin = true;                  ///< if the pod's namespace has none, nobody knows what the provider has
  bool is_remote_known = true;           ///< the caches that `remote` is from are complete
};

/// Why no container of the pod can run, in one sentence of bounded length with the reason that its status at home
/// shows. The provider has no Pod of it, or one without a node, or the namespace has no twin. "" = containers may run.
std::string why_nothing_runs(const AskedPod& asked);

/// Why the container of the remote pod waits to be started, in one sentence of bounded length; "" = it does not, as far
/// as the first 500 statuses of each list say.
std::string why_container_waits(const AskedPod& asked, std::string_view container);

/// Why the provider cannot be asked about a pod, or about one container of it: sentences; "" = it can.
struct PodObstacles {
  std::string pod;      ///< nothing of the pod can be asked; there is one if the pod has no twin
  std::string refused;  ///< the provider does not run the container, so that it has no log and takes no command
  std::string waiting;  ///< the provider has not started the container, so that it takes no command
};
/// Finds why the provider cannot be asked about a pod, or about `container` of it; "" = the question is about the pod
/// alone. Of each list of statuses 500 are read.
PodObstacles find_obstacles(const AskedPod& asked, std::string_view container);

}  // namespace liqo::core
