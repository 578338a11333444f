// What a network module says about the ranges of another cluster: its Configuration, read.
#pragma once

#include <span>

#include "kube/k8s/object.hpp"
#include "liqo/core/mapping/ip.hpp"

namespace liqo::core {

/// The ranges of a peer as it has them, and as this cluster reaches them. `configurations` are those of the peer in its
/// tenant namespace: none make an empty mapping. Errors: several, no ranges yet, or ranges that cannot be mapped one to
/// one.
kube::Result<IpMapping> read_network_mapping(std::span<const kube::Object> configurations);

}  // namespace liqo::core
