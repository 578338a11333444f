// The custom kinds that a stand-in serves besides those of every API server in memory.
#pragma once

#include <vector>

#include "kube/k8s/resource.hpp"

namespace liqo::bench {

/// The kinds that a consumer requests from a provider.
std::vector<kube::Resource> kinds_of_provider();
/// The kinds that liqod requests from its own cluster.
std::vector<kube::Resource> kinds_of_home();

}  // namespace liqo::bench
