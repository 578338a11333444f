// What a network module says about the ranges of another cluster: its Configuration, read.
#pragma once

#include <span>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"

namespace liqo::core {

/// The ranges of a peer as it has them, and as this cluster reaches them. `configurations` are those of the peer in its
/// tenant namespace: none make an empty mapping. Errors: several, no ranges yet, or ranges that cannot be mapped one to
/// one.
kube::Result<IpMapping> read_network_mapping(std::span<const kube::Object> configurations);

/// Whether one of them names a range of the peer's that holds the address, be it mapped by now or not.
bool is_in_range_of_peer(std::span<const kube::Object> configurations, std::string_view address);

}  // namespace liqo::core
