// What an installation takes over from the kind of cluster that it goes into. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

enum class Platform { any, kubeadm, k3s, openshift };

/// Errors: Errc::invalid_input for what is no kind of cluster that is known here, with what to type instead.
kube::Result<Platform> read_platform(std::string_view name);
std::string_view to_string(Platform platform);

/// The arguments with which k3s or RKE2 runs on a Node, as it notes them there; none where it does not.
std::vector<std::string> arguments_of_k3s(const kube::Object& node);

/// What tells how a cluster is set up; only what the platform needs has to be there.
struct PlatformObjects {
  std::vector<kube::Object> managers;   ///< pods of kube-controller-manager (kubeadm)
  std::vector<kube::Object> nodes;      ///< (k3s)
  std::optional<kube::Object> network;  ///< Network "cluster" of config.openshift.io
};

/// Values of the chart, weaker than those that the user gives: the ranges of pods as the cluster says them, a label by
/// which consumers see what it is, and on OpenShift no user for the daemon, because that is OpenShift's to choose.
kube::json::object platform_values(Platform platform, const PlatformObjects& objects);

}  // namespace liqoctl::model
