#include "core/offloading/affinity.hpp"

#include <algorithm>

#include "core/common/node_selector.hpp"
#include "core/common/selector_text.hpp"
#include "core/offloading/placement.hpp"
#include "core/offloading/placement_wishes.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Labels that differ between pods of one workload, or between two virtual nodes of one provider. A selector with one
/// of them would miss the siblings that are to be kept apart.
constexpr std::string_view individual_labels[] = {"controller-revision-hash",
                                                  "pod-template-hash",
                                                  "statefulset.kubernetes.io/pod-name",
                                                  "apps.kubernetes.io/pod-index",
                                                  "batch.kubernetes.io/job-completion-index",
                                                  api::labels::node_name};

json::object selector_labels(const kube::Object& local_pod, const json::object& labels) {
  json::object chosen;
  const std::string_view list = local_pod.annotation(api::annotations::anti_affinity_labels);
  if (list.empty()) {
    for (const auto& [key, value] : labels)
      if (std::ranges::find(individual_labels, std::string_view(key)) == std::end(individual_labels))
        chosen[key] = value;
    return chosen;
  }
  for (const std::string_view part : kube::split(list, ',')) {
    const std::string_view key = kube::trim(part);
    if (const json::value* value = labels.if_contains(key)) chosen[key] = *value;
  }
  return chosen;
}

void add_anti_affinity(json::object& affinity, const kube::Object& local_pod, const json::object& labels) {
  const std::string_view preset = local_pod.annotation(api::annotations::anti_affinity_preset);
  if (preset == "propagate") {
    const json::object& wanted = kube::object_at(local_pod.spec(), {"affinity", "podAntiAffinity"});
    if (!wanted.empty()) affinity["podAntiAffinity"] = wanted;
    return;
  }
  if (preset != "soft" && preset != "hard") return;
  json::object selected = selector_labels(local_pod, labels);
  // An empty selector would select every pod of the namespace.
  if (selected.empty()) return;
  json::object term{{"labelSelector", json::object{{"matchLabels", std::move(selected)}}},
                    {"topologyKey", "kubernetes.io/hostname"}};
  json::object& rule = kube::ensure_object(affinity, "podAntiAffinity");
  if (preset == "hard")
    rule[required_terms] = json::array{std::move(term)};
  else
    rule["preferredDuringSchedulingIgnoredDuringExecution"] =
        json::array{json::object{{"weight", 1}, {"podAffinityTerm", std::move(term)}}};
}

json::object pod_affinity(const kube::Object& local_pod) {
  if (local_pod.annotation(api::annotations::pod_affinity) == api::as_it_is)
    return kube::object_at(local_pod.spec(), {"affinity", "podAffinity"});
  return soft_pod_affinity(local_pod);
}

void exclude_virtual_nodes(json::object& affinity) {
  const json::value exclusion = requirement(api::labels::type, "NotIn", {json::value(api::labels::type_virtual_node)});
  json::object& required = kube::ensure_object(kube::ensure_object(affinity, "nodeAffinity"), required_terms);
  json::value& terms = required["nodeSelectorTerms"];
  if (!terms.is_array() || terms.get_array().empty()) {
    terms = json::array{json::object{{"matchExpressions", json::array{exclusion}}}};
    return;
  }
  // The terms are alternatives, so each one that selects anything needs the requirement.
  for (json::value& term : terms.get_array()) {
    if (!matches_something(term)) continue;
    kube::ensure_array(term.get_object(), "matchExpressions").push_back(exclusion);
  }
}

}  // namespace

json::object forge_affinity(const kube::Object& local_pod, const json::object& labels, const ForgingContext& ctx,
                            bool excludes_virtual_nodes) {
  json::object affinity;
  if (!ctx.patch.node_affinity.empty()) affinity["nodeAffinity"] = ctx.patch.node_affinity;
  if (json::object near = pod_affinity(local_pod); !near.empty()) affinity["podAffinity"] = std::move(near);
  add_anti_affinity(affinity, local_pod, labels);
  if (excludes_virtual_nodes) exclude_virtual_nodes(affinity);
  return affinity;
}

}  // namespace liqo::core
