#include "model/check/topology_hints.hpp"

#include <algorithm>

#include "core/common/resources.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"

namespace liqoctl::model {
namespace {

namespace labels = liqo::api::labels;

constexpr std::size_t max_named = 8;
constexpr std::string_view zone_label = "topology.kubernetes.io/zone";

/// As the cache of zones in kube-controller-manager sees it.
bool counts(const kube::Object& node) {
  return kube::has_condition(node, "Ready") && !node.has_label("node-role.kubernetes.io/control-plane") &&
         !node.has_label("node-role.kubernetes.io/master");
}

bool has_cpu(const kube::Object& node) {
  const auto allocatable = liqo::core::read_resources(kube::object_at(node.status(), {"allocatable"}));
  return allocatable && !liqo::core::amount(*allocatable, "cpu").is_zero();
}

std::string names_of(const std::vector<HintlessNode>& nodes, bool HintlessNode::* has) {
  std::vector<std::string> names;
  for (const HintlessNode& node : nodes)
    if (!(node.*has)) names.push_back(node.name);
  return kube::join_some(names, max_named);
}

}  // namespace

std::vector<HintlessNode> hintless_nodes(const std::vector<kube::Object>& nodes) {
  std::vector<HintlessNode> hintless;
  for (const kube::Object& node : nodes) {
    if (!counts(node)) continue;
    HintlessNode seen{
        .name = std::string(node.name()), .has_zone = !node.label(zone_label).empty(), .has_cpu = has_cpu(node)};
    if (seen.has_zone && seen.has_cpu) continue;
    if (node.label(labels::type) != labels::type_virtual_node) return {};
    hintless.push_back(std::move(seen));
  }
  return hintless;
}

bool wants_hints(const kube::Object& service) {
  constexpr std::string_view key = "service.kubernetes.io/topology-mode",
                             older = "service.kubernetes.io/topology-aware-hints";
  const std::string_view mode = service.annotation(service.has_annotation(older) ? older : key);
  return mode == "Auto" || mode == "auto";
}

std::string lost_hints_in_words(const std::vector<HintlessNode>& nodes, const std::vector<kube::Object>& services) {
  std::vector<std::string> names;
  for (const kube::Object& service : services)
    if (wants_hints(service)) names.push_back(service.key().text());
  if (nodes.empty() || names.empty()) return {};
  std::string words = "Services with topology-mode Auto (" + kube::join_some(names, max_named) + ") get no hints";
  if (const std::string no_zone = names_of(nodes, &HintlessNode::has_zone); !no_zone.empty())
    words += ", because virtual node " + no_zone +
             " has no zone: set one for all of them by liqod's "
             "--node-extra-labels " +
             std::string(zone_label) +
             "=ZONE (value virtualKubelet.virtualNode.extra.labels), or for one in spec.labels of its VirtualNode";
  if (const std::string no_cpu = names_of(nodes, &HintlessNode::has_cpu); !no_cpu.empty())
    words += (words.contains("because") ? "; and " : ", ") + std::string("because virtual node ") + no_cpu +
             " has no cpu: ask its provider for some, or set spec.createNode: false in its VirtualNode";
  return words;
}

}  // namespace liqoctl::model
