#include "core/slices/platform.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/common/declared_features.hpp"
#include "core/slices/inventory.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view usual_os = "linux", usual_architecture = "amd64";

/// Taints that Kubernetes sets for trouble, and that of the cluster autoscaler, go away by themselves.
bool is_lasting(const kube::json::value& taint) {
  const std::string_view key = kube::string_at(taint, {"key"}), effect = kube::string_at(taint, {"effect"});
  return (effect == "NoSchedule" || effect == "NoExecute") && !key.starts_with("node.kubernetes.io/") &&
         !key.starts_with("node.cloudprovider.kubernetes.io/") && key != "ToBeDeletedByClusterAutoscaler";
}

std::string_view os_of(const kube::Object& node) {
  const std::string_view os = node.label("kubernetes.io/os");
  return os.empty() ? usual_os : os;
}
std::string_view architecture_of(const kube::Object& node) { return node.label("kubernetes.io/arch"); }
std::string_view zone_of(const kube::Object& node) { return node.label(zone_label); }
std::string_view region_of(const kube::Object& node) { return node.label(region_label); }
const kube::json::array& declared_by(const kube::Object& node) {
  return kube::array_at(node.status(), {"declaredFeatures"});
}

/// What is in both sorted lists.
std::vector<std::string> shared(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

Platforms::Kind Platforms::kind_of(const kube::Object& node) {
  Kind kind{.os = std::string(os_of(node)),
            .architecture = std::string(architecture_of(node)),
            .zone = std::string(zone_of(node)),
            .region = std::string(region_of(node)),
            .features = {}};
  for (const kube::json::value& feature : declared_by(node))
    if (feature.is_string()) kind.features.emplace_back(std::string_view(feature.get_string()));
  std::ranges::sort(kind.features);
  return kind;
}

/// API servers keep the list sorted; one that is not is of no kind here, and is counted again.
bool Platforms::is_of(const kube::Object& node, const Kind& kind) {
  const auto is_same = [](const kube::json::value& said, const std::string& known) {
    return said.is_string() && said.get_string() == known;
  };
  return os_of(node) == kind.os && architecture_of(node) == kind.architecture && zone_of(node) == kind.zone &&
         region_of(node) == kind.region && std::ranges::equal(declared_by(node), kind.features, is_same);
}

bool Platforms::set_node(const std::string& name, const kube::Object* node) {
  const bool counts = node && is_for_consumers(*node);
  const bool tainted = counts && std::ranges::any_of(kube::array_at(node->spec(), {"taints"}), is_lasting);
  const auto known = nodes_.find(name);
  if (known == nodes_.end() && !counts) return false;
  if (known != nodes_.end()) {
    const Node before = known->second;
    if (counts && before.tainted == tainted && is_of(*node, before.kind->first)) return false;
    if (--before.kind->second == 0) counts_of(before.tainted).erase(before.kind);
    nodes_.erase(known);
  }
  if (!counts) return true;
  const auto kind = counts_of(tainted).try_emplace(kind_of(*node), 0).first;
  ++kind->second;
  nodes_.emplace(name, Node{.kind = kind, .tainted = tainted});
  return true;
}

Platform Platforms::common() const {
  Platform common;
  const Counts& counts = open_.empty() ? tainted_ : open_;
  std::set<std::string_view> systems, architectures, zones, regions;
  for (const auto& [kind, nodes] : counts) systems.insert(kind.os);
  if (!systems.contains(usual_os)) {
    if (systems.size() != 1) return common;
    common.os = *systems.begin();
  }
  const std::string_view os = common.os.empty() ? usual_os : std::string_view(common.os);
  std::optional<std::vector<std::string>> features;
  for (const auto& [kind, nodes] : counts) {
    if (kind.os != os) continue;
    architectures.insert(kind.architecture);
    zones.insert(kind.zone);
    regions.insert(kind.region);
    if (features)
      features = shared(*features, kind.features);
    else
      features = kind.features;
  }
  if (architectures.size() == 1 || !architectures.contains(usual_architecture))
    common.architecture = *architectures.begin();
  if (zones.size() == 1) common.zone = *zones.begin();
  if (regions.size() == 1) common.region = *regions.begin();
  ReportedFeatures reported = reported_features(std::move(features).value_or(std::vector<std::string>()));
  common.features = std::move(reported.reported);
  common.features_left_out = std::move(reported.left_out);
  return common;
}

}  // namespace liqo::core
