// The way to a local pod: where it runs, and over which connection its provider is asked.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/offloading/waiting_pod.hpp"
#include "kube/base/failure.hpp"
#include "kube/net/transport.hpp"

namespace liqo::kubelet {

/// What stands in the way of asking the provider about a pod and a container of it ("" = none is asked about), as it is
/// now. Both pods are read for it, so it is called only for who was admitted.
using FindObstacles = std::function<core::PodObstacles(const std::string& container)>;

/// Where a local pod runs, with a share in the connection to the provider, whose session may be replaced while a
/// request waits. What is asked over a connection that was stopped meanwhile fails, and streams that are open end by
/// themselves.
struct PodRoute {
  std::shared_ptr<kube::net::Transport> transport;  ///< to the provider's API server
  std::shared_ptr<kube::net::Upgrader> upgrader;    ///< for exec, attach and port-forward; null where there is none
  std::string remote_namespace;
  std::string remote_pod;
  std::string provider;          ///< what the provider is called where people read of it
  FindObstacles obstacles = {};  ///< empty = there are none
  std::string node;  ///< the virtual node, for authorisation; "" = unknown, so the right on every node is needed
};

/// Finds the way to a local pod, for anybody who reaches the port: it reads no pod. Failures: one sentence, answered
/// with 404.
using FindPod = std::function<kube::Result<PodRoute>(const std::string& ns, const std::string& pod)>;

}  // namespace liqo::kubelet
