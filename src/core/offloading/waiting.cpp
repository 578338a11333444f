#include "liqo/core/offloading/waiting.hpp"

#include <algorithm>

#include "core/offloading/placement.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/nodes/room.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The longest word that is shown; a Node is written by others, too.
constexpr std::size_t max_word = 63;

bool is_waiting(const kube::Object& pod) {
  const json::object* scheduled = kube::find_condition(pod.status(), "PodScheduled");
  return !pod.is_deleting() && kube::string_at(pod.spec(), {"nodeName"}).empty() && scheduled &&
         kube::string_at(*scheduled, {"status"}) == "False" &&
         kube::string_at(*scheduled, {"reason"}) == "Unschedulable";
}

/// Whether the scheduler would place the pod there if the node were open.
bool would_take(const kube::Object& node, const kube::Object& pod, const Resources& demand) {
  if (!kube::has_condition(node, "Ready") || kube::bool_at(node.spec(), {"unschedulable"})) return false;
  if (!takes_node(pod.tree(), node.name(), node.labels())) return false;
  const bool is_kept_off = std::ranges::any_of(kube::array_at(node.spec(), {"taints"}), [&](const json::value& taint) {
    return kube::string_at(taint, {"key"}) != api::closed_taint &&
           kube::string_at(taint, {"effect"}) != "PreferNoSchedule" && !tolerates(pod.tree(), taint);
  });
  if (is_kept_off) return false;
  const auto allocatable = read_resources(kube::object_at(node.status(), {"allocatable"}));
  return !allocatable || why_too_large(demand, *allocatable).empty();
}

bool is_closed_to(const kube::Object& node, const kube::Object& pod) {
  return std::ranges::any_of(kube::array_at(node.spec(), {"taints"}), [&pod](const json::value& taint) {
    return kube::string_at(taint, {"key"}) == api::closed_taint && !tolerates(pod.tree(), taint);
  });
}

}  // namespace

std::string_view closed_word_of(const kube::Object& node) {
  for (const json::value& taint : kube::array_at(node.spec(), {"taints"}))
    if (kube::string_at(taint, {"key"}) == api::closed_taint) return kube::string_at(taint, {"value"});
  return {};
}

std::optional<ClosedNode> awaited_node(const kube::Object& pod, const std::vector<kube::Object>& nodes) {
  if (!is_waiting(pod)) return std::nullopt;
  const Resources demand = scheduled_demand(pod);
  const kube::Object* awaited = nullptr;
  for (const kube::Object& node : nodes) {
    const bool is_closed = is_closed_to(node, pod);
    if ((is_closed && awaited) || !would_take(node, pod, demand)) continue;
    if (!is_closed) return std::nullopt;
    awaited = &node;
  }
  if (!awaited) return std::nullopt;
  return ClosedNode{.name = std::string(awaited->name()),
                    .cluster = std::string(awaited->label(api::labels::remote_cluster_id)),
                    .why = std::string(closed_word_of(*awaited))};
}

std::string closed_in_words(const ClosedNode& node) {
  const std::string cluster = "cluster " + kube::printable(kube::cut_text(node.cluster, max_word)),
                    name = "node " + kube::printable(node.name), waits = ", or until another node takes it";
  if (node.why == closed_word(Closed::cordoned))
    return cluster + " has cordoned " + name + ": this pod waits until it is uncordoned there" + waits;
  if (node.why == closed_word(Closed::denied))
    return cluster + " grants nothing for " + name +
           " any more (drained or denied): this pod waits until it grants something again" + waits;
  if (node.why == closed_word(Closed::nothing_granted))
    return cluster + " grants no cpu or no memory for " + name + " at present: this pod waits until it grants some" +
           waits;
  if (node.why == closed_word(Closed::full))
    return cluster + " has no room left on " + name + ": this pod waits until other pods there end" + waits;
  return cluster + " takes no new pods on " + name + " at present (" +
         kube::printable(kube::cut_text(node.why, max_word)) + "): this pod waits until that ends" + waits;
}

}  // namespace liqo::core
