#include "core/common/declared_features.hpp"

#include <algorithm>
#include <utility>

#include "core/common/names.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view domain = "features.liqo.io";
constexpr std::string_view present = "true";
/// The bound of the name in the key of a label.
constexpr std::size_t max_name = 63;
/// What liqod would have to do itself, as the kubelet of the virtual node, and does not.
constexpr std::string_view not_ours[] = {
    // Prepares the devices that home's scheduler has allocated, which are none of the provider's.
    "DRAOptionalNodeOperations",
    // Serves port-forward in WebSockets, which API servers then pass on as they come. liqod serves it over SPDY alone.
    "ExtendWebSocketsToKubelet",
    // Changes volumes in a resize. Those to the provider carry cpu and memory alone.
    "InPlacePodVerticalScalingMemoryBackedVolumes",
    // Takes a field of volume mounts that the pod firewall refuses.
    "VolumeBindMountOptions",
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alphanumeric(char c) { return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Kubernetes' own form of a feature without the slashes that it may have, because the key of a label has one at most.
bool is_feature_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && is_upper(name.front()) &&
         std::ranges::all_of(name, is_alphanumeric);
}

bool is_ours(std::string_view name) { return std::ranges::find(not_ours, name) == std::ranges::end(not_ours); }

}  // namespace

std::string feature_key(std::string_view feature) { return std::string(domain).append("/").append(feature); }

bool is_feature_key(std::string_view key) { return key.size() > domain.size() && domain_of(key) == domain; }

bool is_feature_label(std::string_view key, std::string_view value) {
  if (!is_feature_key(key) || value != present) return false;
  const std::string_view name = key.substr(domain.size() + 1);
  return is_feature_name(name) && is_ours(name);
}

ReportedFeatures reported_features(std::vector<std::string> declared) {
  std::ranges::sort(declared);
  const auto repeated = std::ranges::unique(declared);
  declared.erase(repeated.begin(), repeated.end());
  ReportedFeatures features;
  for (std::string& feature : declared) {
    if (!is_ours(feature)) continue;
    const bool is_reported = features.reported.size() < max_declared_features && is_feature_name(feature);
    (is_reported ? features.reported : features.left_out).push_back(std::move(feature));
  }
  return features;
}

std::vector<std::string> features_of(const kube::json::object& labels) {
  std::vector<std::string> features;
  for (const auto& [key, value] : labels)
    if (value.is_string() && is_feature_label(key, value.get_string()))
      features.emplace_back(std::string_view(key).substr(domain.size() + 1));
  return reported_features(std::move(features)).reported;
}

}  // namespace liqo::core
