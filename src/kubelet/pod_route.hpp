// The route to a local pod: where it runs, and the connection to its provider.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/offloading/waiting_pod.hpp"
#include "kube/base/failure.hpp"
#include "kube/net/transport.hpp"

namespace liqo::kubelet {

/// Finds the obstacles to a request about a pod and a container of it ("" = no container), as of now. It reads both
/// pods, so it is called only for admitted callers.
using FindObstacles = std::function<core::PodObstacles(const std::string& container)>;

/// Where a local pod runs. It shares the connection to the provider, because the session may be replaced while a
/// request waits. Requests over a connection that was stopped meanwhile fail, and open streams end by themselves.
struct PodRoute {
  std::shared_ptr<kube::net::Transport> transport;  ///< to the provider's API server
  std::shared_ptr<kube::net::Upgrader> upgrader;    ///< for exec, attach and port-forward; null if there is none
  std::string remote_namespace;
  std::string remote_pod;
  std::string provider;          ///< the name of the provider in messages
  FindObstacles obstacles = {};  ///< empty = there are none
  std::string node;  ///< the virtual node, for authorisation; "" = unknown, so the right on every node is needed
};

/// Finds the route to a local pod. It parses no pod, because unauthenticated callers can cause it. Failures: one
/// sentence, answered with 404.
using FindPod = std::function<kube::Result<PodRoute>(const std::string& ns, const std::string& pod)>;

}  // namespace liqo::kubelet
