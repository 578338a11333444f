// Why nothing of a pod runs at its provider, for who asks for its log or wants to run a command in it. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A pod on a virtual node that somebody asks about.
struct AskedPod {
  const kube::Object& local;
  const kube::Object* remote = nullptr;  ///< what complete caches have of its name at the provider; null = nothing
  std::string_view provider;             ///< its cluster ID, for sentences
  bool has_twin = true;                  ///< where the pod's namespace has none, nobody knows what the provider has
};

/// Why no container of the pod can run, in one sentence of bounded length with the reason that its status at home
/// shows: the provider has no Pod of it, or one without a node, or the namespace has no twin. "" = containers may run.
std::string why_nothing_runs(const AskedPod& asked);

/// The containers of the remote pod that wait to be started, with the sentences that say so.
std::map<std::string, std::string> waiting_containers(const AskedPod& asked);

}  // namespace liqo::core
