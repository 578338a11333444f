#include "core/namespaces/offloading_status.hpp"

#include <algorithm>

#include "core/common/home_names.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::size_t max_message = 300;

struct TwinCondition {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string message;
};

TwinCondition required_condition(bool required) {
  if (required) return {"OffloadingRequired", true, "ClusterSelected", "the clusterSelector selects this cluster"};
  return {"OffloadingRequired", false, "ClusterNotSelected", "the clusterSelector does not select this cluster"};
}

bool is_failed(const TwinState& twin, const OffloadingFacts& facts) {
  return !facts.trouble.empty() || !twin.held.empty() || twin.is_crowded_out || twin.phase == "CreationLoopBackOff";
}

std::string crowded_out() {
  return "the cluster is asked for " + std::to_string(max_mappings) +
         " namespaces already, which is the most that one cluster may ask of another: offload fewer namespaces to "
         "it, " +
         "by their clusterSelectors";
}

TwinCondition ready_condition(const TwinState& twin, const OffloadingFacts& facts) {
  if (!twin.required && !twin.held.empty()) return {"Ready", false, api::reasons::twin_holds_data, twin.held};
  if (twin.phase == "Terminating" || !twin.required)
    return {"Ready", false, "Terminating", "the twin namespace is being deleted"};
  if (is_failed(twin, facts)) {
    std::string message = "the twin namespace is not ready";
    const std::string why = !facts.trouble.empty() ? facts.trouble
                            : !twin.held.empty()   ? twin.held
                            : twin.is_crowded_out  ? crowded_out()
                                                   : kube::one_line(twin.message, max_message);
    if (!why.empty()) message += ": " + why;
    return {"Ready", false, "CreationLoopBackOff", std::move(message)};
  }
  if (twin.phase == "Accepted")
    return {"Ready", true, "NamespaceCreated",
            "the twin namespace is there" + (twin.names.empty() ? "" : "; " + twin.names)};
  if (!twin.silence.empty())
    return {"Ready", false, "Creating", "the twin namespace is not there yet: " + twin.silence};
  return {"Ready", false, "Creating", "the twin namespace is being created"};
}

/// What the status says of that condition while it holds; "" = nothing.
std::string_view shown_message(const kube::Object& offloading, const TwinState& twin, const TwinCondition& of) {
  const json::array& all = kube::array_at(api::NamespaceOffloading(offloading).conditions(), {twin.map});
  const json::object* shown = kube::find_condition(all, of.type);
  return shown && kube::string_at(*shown, {"status"}) == "True" ? kube::string_at(*shown, {"message"}) : "";
}

void add_words(std::string& words, const std::string& more) { words += (words.empty() ? "" : "; ") + more; }

json::object forge(const json::array& present, const TwinCondition& wanted, kube::WallTime now) {
  return kube::forge_condition(present, {wanted.type, wanted.holds ? "True" : "False", wanted.reason, wanted.message},
                               now);
}

bool is_gone(const TwinState& twin) { return !twin.required && twin.phase.empty() && twin.held.empty(); }

std::string_view phase_of(const kube::Object& offloading, const OffloadingFacts& facts) {
  if (offloading.is_deleting()) return "Terminating";
  std::size_t required = 0, ready = 0, failed = 0;
  for (const TwinState& twin : facts.twins) {
    if (!twin.required) continue;
    ++required;
    if (is_failed(twin, facts)) {
      ++failed;
    } else if (twin.phase == "Accepted") {
      ++ready;
    }
  }
  if (required == 0) return api::no_cluster_selected;
  if (ready == required) return "Ready";
  if (failed == required) return "AllFailed";
  return failed > 0 ? "SomeFailed" : "InProgress";
}

}  // namespace

std::optional<json::object> plan_offloading_status(const kube::Object& object, const OffloadingFacts& facts,
                                                   kube::WallTime now) {
  const api::NamespaceOffloading offloading(object);
  const json::object& before = offloading.conditions();
  json::object entries;
  for (const TwinState& twin : facts.twins) {
    if (object.is_deleting() && is_gone(twin)) continue;
    const json::array& present = kube::array_at(before, {twin.map});
    json::array conditions{forge(present, required_condition(twin.required), now)};
    if (!is_gone(twin)) conditions.push_back(forge(present, ready_condition(twin, facts), now));
    entries[twin.map] = std::move(conditions);
  }

  json::object changes;
  const json::object& status = object.status();
  const auto set = [&](std::string_view field, json::value wanted) {
    const json::value* present = status.if_contains(field);
    if (!present || *present != wanted) changes[field] = std::move(wanted);
  };
  set("offloadingPhase", json::string(phase_of(object, facts)));
  set("observedGeneration", object.generation());
  if (!facts.remote_name.empty()) set("remoteNamespaceName", json::string(facts.remote_name));
  json::object condition_changes;
  for (const auto& [map, conditions] : entries) {
    const json::value* present = before.if_contains(map);
    if (!present || *present != conditions) condition_changes[map] = conditions;
  }
  for (const auto& [map, conditions] : before)
    if (!entries.contains(map)) condition_changes[map] = nullptr;
  if (!condition_changes.empty()) changes["remoteNamespacesConditions"] = std::move(condition_changes);
  if (changes.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"resourceVersion", object.resource_version()}}},
                      {"status", std::move(changes)}};
}

std::string new_words_about_names(const kube::Object& offloading, const OffloadingFacts& facts) {
  std::string words;
  if (offloading.is_deleting()) return words;
  for (const TwinState& twin : facts.twins) {
    if (twin.names.empty()) continue;
    const TwinCondition ready = ready_condition(twin, facts);
    if (ready.holds && shown_message(offloading, twin, ready) != ready.message) add_words(words, twin.names);
  }
  return words;
}

std::string new_words_about_reads(const kube::Object& offloading, const OffloadingFacts& facts, std::string_view home) {
  std::string words;
  if (offloading.is_deleting()) return words;
  for (const TwinState& twin : facts.twins) {
    const TwinCondition ready = ready_condition(twin, facts);
    if (!ready.holds || says_unresolved(twin.names)) continue;
    if (says_unresolved(shown_message(offloading, twin, ready)))
      add_words(words, names_resolved_now(offloading.ns(), default_twin_name(offloading.ns(), home), twin.map));
  }
  return words;
}

bool is_withdrawn(const OffloadingFacts& facts) {
  return std::ranges::all_of(
      facts.twins, [](const TwinState& twin) { return is_gone(twin) || (!twin.required && !twin.held.empty()); });
}

}  // namespace liqo::core
