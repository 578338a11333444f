// Which nodes a pod may be scheduled on, as the Kubernetes scheduler sees it: labels, required affinity, taints.
// Tested by test/unit/core/offloading/waiting_test.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "core/common/node_selector.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {

/// The field of an affinity that has the terms that must hold.
inline constexpr std::string_view required_terms = "requiredDuringSchedulingIgnoredDuringExecution";

/// nodeSelector and required node affinity of a pod, or of a template of one, read once for many nodes.
class NodeChoice {
 public:
  /// `pod` outlives it.
  explicit NodeChoice(const kube::json::object& pod);
  /// Whether they take a node of that name with these labels. An affinity that cannot be read takes none.
  bool takes(std::string_view node_name, const kube::json::object& labels) const;

 private:
  const kube::json::object* node_selector_;
  bool has_affinity_ = false;
  std::optional<NodeSelector> affinity_;
};

/// Whether nodeSelector and required node affinity of a pod take a node of that name with these labels.
bool takes_node(const kube::json::object& pod, std::string_view node_name, const kube::json::object& labels);

/// Whether a pod tolerates a taint. A toleration for a time counts.
bool tolerates(const kube::json::object& pod, const kube::json::value& taint);

}  // namespace liqo::core
