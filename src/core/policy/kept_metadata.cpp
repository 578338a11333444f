#include "core/policy/kept_metadata.hpp"

#include <algorithm>

#include "core/policy/key_table.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The longest part of a key that is shown as left out.
constexpr std::size_t max_shown_key = 100;

/// Kubernetes adds tolerations of these taints to every pod.
constexpr std::string_view everybodys_taints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};

}  // namespace

std::string left_out_annotation(std::string_view key) {
  return "annotation " + std::string(key.substr(0, max_shown_key));
}

KeptLabels kept_labels(const kube::Object& shadow, const PodPolicy& policy) {
  KeptLabels split;
  for (const auto& [key, value] : shadow.labels()) {
    const bool is_off = value.is_string() && is_left_out_label(key, value.get_string());
    if (!is_off || lists_key(policy.labels, key))
      split.kept[key] = value;
    else
      split.left_out.push_back("label " + std::string(std::string_view(key).substr(0, max_shown_key)));
  }
  return split;
}

KeptAnnotations kept_annotations(const kube::Object& shadow, const PodPolicy& policy) {
  KeptAnnotations split;
  for (const auto& [key, value] : shadow.annotations()) {
    if (is_common_annotation(key) || lists_key(policy.annotations, key))
      split.kept[key] = value;
    else
      split.left_out.push_back(left_out_annotation(key));
  }
  return split;
}

KeptTolerations kept_tolerations(const json::object& pod_spec, const PodPolicy& policy) {
  KeptTolerations split;
  for (const json::value& entry : kube::array_at(pod_spec, {"tolerations"})) {
    const std::string_view key = kube::string_at(entry, {"key"});
    if (std::ranges::find(everybodys_taints, key) != std::ranges::end(everybodys_taints) ||
        lists_key(policy.tolerations, key))
      split.kept.push_back(entry);
    else
      split.left_out.push_back(key.empty() ? "toleration of every taint"
                                           : "toleration of " + std::string(key.substr(0, max_shown_key)));
  }
  return split;
}

}  // namespace liqo::core
