#include "core/slices/platform.hpp"

#include <algorithm>

#include "core/slices/inventory.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view usual_os = "linux", usual_architecture = "amd64";

Platform platform_of(const kube::Object& node) {
  Platform found{.os = std::string(node.label("kubernetes.io/os")),
                 .architecture = std::string(node.label("kubernetes.io/arch"))};
  if (found.os.empty()) found.os = usual_os;
  return found;
}

/// Taints that Kubernetes sets for trouble, and that of the cluster autoscaler, go away by themselves.
bool is_lasting(const kube::json::value& taint) {
  const std::string_view key = kube::string_at(taint, {"key"}), effect = kube::string_at(taint, {"effect"});
  return (effect == "NoSchedule" || effect == "NoExecute") && !key.starts_with("node.kubernetes.io/") &&
         !key.starts_with("node.cloudprovider.kubernetes.io/") && key != "ToBeDeletedByClusterAutoscaler";
}

}  // namespace

void Platforms::set_node(const std::string& name, const kube::Object* node) {
  if (const auto known = nodes_.find(name); known != nodes_.end()) {
    const auto& [platform, tainted] = known->second;
    Counts& counts = tainted ? tainted_ : open_;
    const auto os = counts.find(platform.os);
    const auto architecture = os->second.find(platform.architecture);
    if (--architecture->second == 0) os->second.erase(architecture);
    if (os->second.empty()) counts.erase(os);
    nodes_.erase(known);
  }
  if (!node || !is_for_consumers(*node)) return;
  Node counted{.platform = platform_of(*node),
               .tainted = std::ranges::any_of(kube::array_at(node->spec(), {"taints"}), is_lasting)};
  ++(counted.tainted ? tainted_ : open_)[counted.platform.os][counted.platform.architecture];
  nodes_.emplace(name, std::move(counted));
}

Platform Platforms::common() const {
  Platform common;
  const Counts& counts = open_.empty() ? tainted_ : open_;
  auto os = counts.find(usual_os);
  if (os == counts.end()) {
    if (counts.size() != 1) return common;
    os = counts.begin();
    common.os = os->first;
  }
  const auto& architectures = os->second;
  if (architectures.size() == 1 || !architectures.contains(usual_architecture))
    common.architecture = architectures.begin()->first;
  return common;
}

}  // namespace liqo::core
