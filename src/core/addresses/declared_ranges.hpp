// The ranges of a peer's pods that the administrator of this cluster has declared.
// Tested by test/unit/core/addresses/peer_addresses_test.cpp and test/unit/core/addresses/consumer_addresses_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The ranges in the annotation `liqo.io/remote-pod-cidrs` of a ForeignCluster; none of them if it says "none", and
/// nullopt if there is no such annotation. Errors: those of parse_ranges().
kube::Result<std::optional<std::vector<Cidr>>> read_declared_ranges(const kube::Object& foreign_cluster);

}  // namespace liqo::core
