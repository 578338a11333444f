// Ranges of addresses of pods: those that clusters publish, and whether those of a provider may be trusted here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

using liqo::core::Cidr;

/// The value of `--pod-cidr`. Errors: Errc::invalid_input for a word that is no range, and for "none" beside others.
struct PodRanges {
  std::vector<Cidr> ranges;  ///< empty: "none"
  /// The value of the annotation on the ForeignCluster.
  std::string annotation() const { return ranges.empty() ? "none" : liqo::core::in_words(ranges); }
};
kube::Result<PodRanges> read_pod_ranges(const std::vector<std::string>& words);

/// The ranges that a cluster publishes for its pods: in the ConfigMap with its ID, else in Network objects of the Go
/// version's chart. Empty if it publishes none, if one of them is no range, and if there are more than 64.
std::vector<Cidr> published_ranges(const kube::Object* cluster_id, const std::vector<kube::Object>& networks);
/// The ranges that Kubernetes assigned to the cluster's nodes, without virtual ones, merged.
std::vector<Cidr> node_ranges(const std::vector<kube::Object>& nodes);

/// A range of this cluster, and its owner.
struct OwnRange {
  Cidr range;
  std::string what;  ///< "Services (ServiceCIDR kubernetes)"
};
/// Ranges of Services and of nodes' pods, and the nodes' own addresses, from the objects that could be read.
std::vector<OwnRange> own_ranges(const std::vector<kube::Object>& service_cidrs, const kube::Object* api_service,
                                 const std::vector<kube::Object>& nodes);

/// Errors: Errc::invalid_input, which names the first range of the provider's pods that overlaps with one of this
/// cluster, and the flags that help.
kube::Result<void> check_overlap(std::string_view provider, std::span<const Cidr> ranges,
                                 std::span<const OwnRange> own);

}  // namespace liqoctl::model
