#include "core/offloading/held_evictions.hpp"

#include <algorithm>

#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/k8s/selector.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view cordon_taint = "node.kubernetes.io/unschedulable";
constexpr std::size_t max_wanted = 32;

bool is_over(const kube::Object& pod) {
  const std::string_view phase = kube::string_at(pod.status(), {"phase"});
  return pod.is_deleting() || phase == "Succeeded" || phase == "Failed";
}

/// Those of the pods with these names that the copy selects.
std::vector<std::string> selected(const kube::Object& copy, const std::vector<kube::Object>& pods,
                                  const PodNames& names) {
  std::vector<std::string> found;
  const auto selector = kube::Selector::parse(selector_text(kube::object_at(copy.spec(), {"selector"})), "");
  if (!selector) return found;
  for (const kube::Object& pod : pods)
    if (names.contains(pod.name()) && selector->matches(pod.tree())) found.emplace_back(pod.name());
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::optional<kube::WallTime> cordoned_since(const kube::Object& node, kube::WallTime seen_at) {
  if (!kube::bool_at(node.spec(), {"unschedulable"})) return std::nullopt;
  for (const kube::json::value& taint : kube::array_at(node.spec(), {"taints"}))
    if (kube::string_at(taint, {"key"}) == cordon_taint)
      if (const auto at = kube::parse_time(kube::string_at(taint, {"timeAdded"}))) return *at;
  return seen_at;
}

HeldTwin find_held(const std::vector<kube::Object>& pods, const CordonedNodes& cordoned, std::chrono::seconds max_block,
                   kube::WallTime now) {
  HeldTwin held;
  for (const kube::Object& pod : pods) {
    const auto node = cordoned.find(kube::string_at(pod.spec(), {"nodeName"}));
    if (node == cordoned.end() || is_over(pod)) continue;
    held.there.emplace(pod.name());
    if (held.late.empty()) held.node = node->first;
    const kube::WallTime end = node->second + max_block;
    if (end <= now) {
      held.late.emplace(pod.name());
      held.node = node->first;
      continue;
    }
    held.due = std::min(held.due.value_or(end), end);
    if (kube::has_condition(pod, "Ready")) held.wanted.emplace(pod.name());
  }
  return held;
}

std::string wanted_by(const kube::Object& copy, const std::vector<kube::Object>& pods, const PodNames& wanted) {
  std::vector<std::string> names = selected(copy, pods, wanted);
  if (names.size() > max_wanted) names.resize(max_wanted);
  return kube::join(names, ",");
}

std::optional<kube::json::object> wanted_patch(const kube::Object& copy, const std::vector<kube::Object>& pods,
                                               const PodNames& wanted) {
  const std::string names = wanted_by(copy, pods, wanted);
  if (copy.annotation(api::annotations::evictions_wanted) == names) return std::nullopt;
  kube::json::object annotations;
  annotations[api::annotations::evictions_wanted] =
      names.empty() ? kube::json::value(nullptr) : kube::json::value(names);
  // The version as precondition: home may have written another number.
  kube::json::object patch{{"metadata", kube::json::object{{"uid", copy.uid()},
                                                           {"resourceVersion", copy.resource_version()},
                                                           {"annotations", std::move(annotations)}}}};
  if (!names.empty()) return patch;
  PodNames all;
  for (const kube::Object& pod : pods)
    if (!is_over(pod)) all.emplace(pod.name());
  const auto count = std::ssize(selected(copy, pods, all));
  if (kube::int_at(copy.spec(), {"minAvailable"}) < count) patch["spec"] = kube::json::object{{"minAvailable", count}};
  return patch;
}

PodNames contested(const std::vector<kube::Object>& copies, const std::vector<kube::Object>& pods,
                   const PodNames& names) {
  PodNames once, more;
  for (const kube::Object& copy : copies)
    for (std::string& name : selected(copy, pods, names)) {
      if (!once.contains(name))
        once.insert(std::move(name));
      else
        more.insert(std::move(name));
    }
  return more;
}

bool holds_one(const kube::Object& copy, const std::vector<kube::Object>& pods, const PodNames& names) {
  return !selected(copy, pods, names).empty();
}

std::string why_no_copy(const kube::Object& copy, std::string_view consumer) {
  if (copy.label(api::labels::reflection_origin) != consumer) return "it has no label with the ID of its consumer";
  const kube::json::object& spec = copy.spec();
  const kube::json::value* least = spec.if_contains("minAvailable");
  const kube::json::value* selector = spec.if_contains("selector");
  if (spec.size() != 3 || !least || !(least->is_int64() || least->is_uint64()) || !selector || !selector->is_object() ||
      kube::string_at(spec, {"unhealthyPodEvictionPolicy"}) != "AlwaysAllow")
    return "its spec is not a selector, minAvailable as a number, and unhealthyPodEvictionPolicy: AlwaysAllow";
  if (!kube::array_at(copy.metadata(), {"finalizers"}).empty()) return "it has finalizers";
  return "";
}

}  // namespace liqo::core
