// Which Secrets other objects of their namespace refer to, so that these follow them to the provider.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// Of one object no more are read; what comes after these in it is as if it were not there.
inline constexpr std::size_t max_references = 1000;

/// The names of the Secrets that a pod's containers, volumes and images need, also those that it calls optional;
/// sorted, each once. Not those of its persistent volumes, which the cluster of the volume uses itself.
std::vector<std::string> secrets_of_pod(const kube::Object& pod);
/// The Secrets with the certificates of an Ingress.
std::vector<std::string> secrets_of_ingress(const kube::Object& ingress);
/// The Secrets by which the pods of a service account pull images.
std::vector<std::string> pull_secrets_of(const kube::Object& service_account);

}  // namespace liqo::core::reflection
