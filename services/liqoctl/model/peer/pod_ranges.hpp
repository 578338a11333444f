// Ranges of addresses of pods: what clusters tell of theirs, and whether those of a provider may be believed here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

using liqo::core::Cidr;

/// What `--pod-cidr` says. Errors: Errc::invalid_input for a word that is no range, and for "none" beside others.
struct PodRanges {
  std::vector<Cidr> ranges;  ///< empty: "none"
  /// As the ForeignCluster bears it.
  std::string annotation() const { return ranges.empty() ? "none" : liqo::core::in_words(ranges); }
};
kube::Result<PodRanges> read_pod_ranges(const std::vector<std::string>& words);

/// What a cluster publishes of its pods: in the ConfigMap with its ID, else in Network objects of the Go version's
/// chart; empty where it does not, where something of it is no range, and where there are more than 64.
std::vector<Cidr> published_ranges(const kube::Object* cluster_id, const std::vector<kube::Object>& networks);
/// The ranges that Kubernetes gave to its nodes, virtual ones aside, merged.
std::vector<Cidr> node_ranges(const std::vector<kube::Object>& nodes);

/// A range of this cluster, and whose it is.
struct OwnRange {
  Cidr range;
  std::string what;  ///< "Services (ServiceCIDR kubernetes)"
};
/// Ranges of Services and of nodes' pods, and the nodes' own addresses; from what there is of it to read.
std::vector<OwnRange> own_ranges(const std::vector<kube::Object>& service_cidrs, const kube::Object* api_service,
                                 const std::vector<kube::Object>& nodes);

/// Errors: Errc::invalid_input naming the first range of the provider's pods that overlaps with one of this cluster,
/// and the flags by which one goes on.
kube::Result<void> check_overlap(std::string_view provider, std::span<const Cidr> ranges,
                                 std::span<const OwnRange> own);

}  // namespace liqoctl::model
