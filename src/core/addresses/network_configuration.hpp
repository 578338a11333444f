// Reads what the Configuration of a network module says about the ranges of another cluster.
#pragma once

#include <span>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The mapping from the ranges of a peer to those by which this cluster reaches them. `configurations` are those of the
/// peer in its tenant namespace; the mapping is empty if there is none. Errors: there are several Configurations, it
/// has no ranges yet, or its ranges cannot be mapped one to one.
kube::Result<IpMapping> read_network_mapping(std::span<const kube::Object> configurations);

/// Whether a Configuration names a range of the peer that holds the address, even if the range is not mapped yet.
bool is_in_range_of_peer(std::span<const kube::Object> configurations, std::string_view address);

}  // namespace liqo::core
