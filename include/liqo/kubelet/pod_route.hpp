// The way to a local pod: where it runs, and over which connection its provider is asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/base/failure.hpp"
#include "kube/net/transport.hpp"

namespace liqo::kubelet {

/// Where a local pod runs, with a share in the connection to the provider, whose session may be replaced while a
/// request waits. What is asked over a connection that was stopped meanwhile fails, and streams that are open end by
/// themselves.
struct PodRoute {
  std::shared_ptr<kube::net::Transport> transport;  ///< to the provider's API server
  std::shared_ptr<kube::net::Upgrader> upgrader;    ///< for exec, attach and port-forward; null where there is none
  std::string remote_namespace;
  std::string remote_pod;
  std::string provider;  ///< what the provider is called where people read of it
  /// By container that the provider does not run: the sentence that says so.
  std::map<std::string, std::string> refused = {};
  /// By container that the provider has not started: the sentence that says why.
  std::map<std::string, std::string> waiting = {};
  std::string trouble = {};  ///< why nothing can be asked of the provider, a sentence, answered with 400; "" = it can
  std::string node;  ///< the virtual node, for authorisation; "" = unknown, so the right on every node is needed
};

/// Finds the way to a local pod. Failures: one sentence, answered with 404.
using FindPod = std::function<kube::Result<PodRoute>(const std::string& ns, const std::string& pod)>;

}  // namespace liqo::kubelet
