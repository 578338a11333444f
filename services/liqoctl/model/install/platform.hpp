// The values that an installation takes over from the platform of its cluster. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

enum class Platform { any, kubeadm, k3s, openshift };

/// Errors: Errc::invalid_input for an unknown platform, with the words to type instead.
kube::Result<Platform> read_platform(std::string_view name);
std::string_view to_string(Platform platform);

/// The arguments of k3s or RKE2 on a Node, as it notes them there; empty if the Node runs neither.
std::vector<std::string> arguments_of_k3s(const kube::Object& node);

/// The objects that show how a cluster is set up. Only those that the platform needs have to be there.
struct PlatformObjects {
  std::vector<kube::Object> managers;   ///< pods of kube-controller-manager (kubeadm)
  std::vector<kube::Object> nodes;      ///< (k3s)
  std::optional<kube::Object> network;  ///< Network "cluster" of config.openshift.io
};

/// Values of the chart, which those of the user override: the ranges of pods that the cluster shows, and a label by
/// which consumers see the platform. On OpenShift also no user for the daemon, because OpenShift chooses that.
kube::json::object platform_values(Platform platform, const PlatformObjects& objects);

}  // namespace liqoctl::model
