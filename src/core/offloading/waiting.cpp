#include "core/offloading/waiting.hpp"

#include <algorithm>

#include "core/offloading/capacity.hpp"
#include "core/offloading/placement.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// The longest word that is shown; a Node is written by others, too.
constexpr std::size_t max_word = 63;
constexpr std::size_t max_entries = 500;

bool is_waiting(const kube::Object& pod) {
  const json::object* scheduled = kube::find_condition(pod.status(), "PodScheduled");
  return !pod.is_deleting() && kube::string_at(pod.spec(), {"nodeName"}).empty() && scheduled &&
         kube::string_at(*scheduled, {"status"}) == "False" &&
         kube::string_at(*scheduled, {"reason"}) == "Unschedulable";
}

/// Who has closed a node, and what opens it.
struct Words {
  std::string why;
  std::string_view until;
  std::string_view advice = {};
};

constexpr std::string_view ask_operator = "; ask the operator of that cluster";

Words words_of(const ClosedNode& node) {
  const std::string cluster = "cluster " + kube::printable(kube::cut_text(node.cluster, max_word)),
                    name = "node " + kube::printable(node.name);
  if (node.why == closed_word(Closed::cordoned))
    return {.why = cluster + " has cordoned " + name, .until = "it is uncordoned there"};
  if (node.why == closed_word(Closed::denied))
    return {.why = cluster + " has drained or denied the slice of " + name + " and grants it nothing any more",
            .until = "it grants something again",
            .advice = ask_operator};
  if (node.why == closed_word(Closed::nothing_granted))
    return {.why = cluster + " grants no cpu or no memory for " + name + " at present", .until = "it grants some"};
  if (node.why == closed_word(Closed::silent))
    return {.why = "Liqo does not run in " + cluster + ", which is behind " + name,
            .until = "it runs there again",
            .advice = ask_operator};
  if (node.why == closed_word(Closed::full))
    return {.why = cluster + " has no room left on " + name, .until = "other pods there end"};
  return {.why = cluster + " takes no new pods on " + name + " at present (" +
                 kube::printable(kube::cut_text(node.why, max_word)) + ")",
          .until = "that ends"};
}

/// Whether the pod depends on what cannot be judged here: where other pods are, and which devices there are.
bool depends_on_more(const kube::Object& pod) {
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"})
    if (!kube::array_at(pod.spec(), {"affinity", kind, required_terms}).empty()) return true;
  if (!kube::array_at(pod.spec(), {"resourceClaims"}).empty()) return true;
  return std::ranges::any_of(kube::array_at(pod.spec(), {"topologySpreadConstraints"}), [](const json::value& spread) {
    return kube::string_at(spread, {"whenUnsatisfiable"}) != "ScheduleAnyway";
  });
}

/// Whether the demand fits onto an empty node. A scheduler takes a resource that the node does not name as 0.
bool has_room_for(const Resources& allocatable, const Resources& demand) {
  return std::ranges::all_of(demand, [&allocatable](const auto& asked) {
    return asked.second.is_zero() || asked.second <= amount(allocatable, asked.first);
  });
}

/// Entries of the lists that choose a pod's nodes. A pod has tens of them; with more it is not worth the time that many
/// nodes would take, because a tenant of this cluster can write as many as it likes.
bool is_too_choosy(const kube::Object& pod) {
  const json::object& spec = pod.spec();
  std::size_t entries = kube::array_at(spec, {"tolerations"}).size() + kube::object_at(spec, {"nodeSelector"}).size();
  const json::array& terms = kube::array_at(spec, {"affinity", "nodeAffinity", required_terms, "nodeSelectorTerms"});
  for (const json::value& term : terms)
    for (const std::string_view kind : {"matchExpressions", "matchFields"})
      for (const json::value& expression : kube::array_at(term, {kind}))
        entries += 1 + kube::array_at(expression, {"values"}).size();
  return entries + terms.size() > max_entries;
}

/// What a pod asks of its node, read once for all nodes.
struct Asked {
  NodeChoice choice;
  Resources demand;
};

/// Whether the scheduler would place the pod there if the node were open.
bool would_take(const kube::Object& node, const kube::Object& pod, const Asked& asked) {
  if (!kube::has_condition(node, "Ready") || kube::bool_at(node.spec(), {"unschedulable"})) return false;
  const bool is_kept_off = std::ranges::any_of(kube::array_at(node.spec(), {"taints"}), [&](const json::value& taint) {
    return kube::string_at(taint, {"key"}) != api::closed_taint &&
           kube::string_at(taint, {"effect"}) != "PreferNoSchedule" && !tolerates(pod.tree(), taint);
  });
  if (is_kept_off) return false;
  if (!asked.choice.takes(node.name(), node.labels())) return false;
  const auto allocatable = read_resources(kube::object_at(node.status(), {"allocatable"}));
  return !allocatable || has_room_for(*allocatable, asked.demand);
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
  if (!is_waiting(pod) || depends_on_more(pod) || is_too_choosy(pod)) return std::nullopt;
  const Asked asked{.choice = NodeChoice(pod.tree()), .demand = scheduled_demand(pod)};
  const kube::Object* awaited = nullptr;
  for (const kube::Object& node : nodes) {
    const bool is_closed = is_closed_to(node, pod);
    if ((is_closed && awaited) || !would_take(node, pod, asked)) continue;
    if (!is_closed) return std::nullopt;
    awaited = &node;
  }
  if (!awaited) return std::nullopt;
  return ClosedNode{.name = std::string(awaited->name()),
                    .cluster = std::string(awaited->label(api::labels::remote_cluster_id)),
                    .why = std::string(closed_word_of(*awaited))};
}

std::string why_in_words(const ClosedNode& node) { return words_of(node).why; }

std::string closed_in_words(const ClosedNode& node) {
  const Words words = words_of(node);
  return words.why + ": this pod waits until " + std::string(words.until) +
         ", or until another node takes it, if nothing else keeps it" + std::string(words.advice);
}

}  // namespace liqo::core
