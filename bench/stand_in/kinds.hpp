// The custom kinds that a stand-in serves beside those that every API server in memory has.
#pragma once

#include <vector>

#include "kube/k8s/resource.hpp"

namespace liqo::bench {

/// What a consumer asks a provider for.
std::vector<kube::Resource> kinds_of_provider();
/// What liqod asks of its own cluster.
std::vector<kube::Resource> kinds_of_home();

}  // namespace liqo::bench
