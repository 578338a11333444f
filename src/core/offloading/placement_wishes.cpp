#include "core/offloading/placement_wishes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/common/json_values.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/placement.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::string_view constraints = "topologySpreadConstraints", unsatisfiable = "whenUnsatisfiable",
                           demand = "DoNotSchedule", wish = "ScheduleAnyway", topology_key = "topologyKey",
                           preferred_terms = "preferredDuringSchedulingIgnoredDuringExecution";
/// The greatest weight that Kubernetes takes.
constexpr int max_weight = 100;

using Keys = std::set<std::string, std::less<>>;

void add_key(Keys& keys, const json::value& of) {
  if (const std::string_view key = kube::string_at(of, {topology_key}); !key.empty()) keys.emplace(key);
}

/// The topology keys of the spread constraints that say this when they cannot be met.
Keys keys_of_constraints(const json::object& spec, std::string_view when) {
  Keys keys;
  for (const json::value& one : kube::array_at(spec, {constraints}))
    if (kube::string_at(one, {unsatisfiable}) == when) add_key(keys, one);
  return keys;
}

/// Narrows a term to the namespace of its pod. False: it does not select there.
bool narrow(json::object& term, std::string_view ns) {
  if (const json::value* by_label = term.if_contains("namespaceSelector"); by_label && !by_label->is_null())
    return false;
  const json::array& names = kube::array_at(term, {"namespaces"});
  if (!names.empty() && std::ranges::find(names, json::value(ns)) == names.end()) return false;
  term.erase("namespaces");
  return true;
}

}  // namespace

void soften_topology_spread(json::object& spec) {
  json::array* all = array_in(spec, constraints);
  if (!all) return;
  const Keys wished = keys_of_constraints(spec, wish);
  json::array kept;
  for (json::value& one : *all) {
    json::object* constraint = kube::string_at(one, {unsatisfiable}) == demand ? one.if_object() : nullptr;
    if (constraint && wished.contains(kube::string_at(one, {topology_key}))) continue;
    if (constraint) {
      (*constraint)[unsatisfiable] = wish;
      constraint->erase("minDomains");
    }
    kept.push_back(std::move(one));
  }
  *all = std::move(kept);
}

json::object soft_pod_affinity(const kube::Object& local_pod) {
  const json::object& affinity = kube::object_at(local_pod.spec(), {"affinity", "podAffinity"});
  json::array wishes;
  for (const json::value& one : kube::array_at(affinity, {required_terms}))
    if (json::value term = one; term.is_object() && narrow(term.get_object(), local_pod.ns()))
      wishes.push_back(json::object{{"weight", max_weight}, {"podAffinityTerm", std::move(term)}});
  for (const json::value& one : kube::array_at(affinity, {preferred_terms})) {
    json::value weighted = one;
    json::object* term = weighted.is_object() ? object_in(weighted.get_object(), "podAffinityTerm") : nullptr;
    if (term && narrow(*term, local_pod.ns())) wishes.push_back(std::move(weighted));
  }
  return wishes.empty() ? json::object() : json::object{{preferred_terms, std::move(wishes)}};
}

std::vector<std::string> wished_topology_keys(const json::object& spec) {
  Keys keys = keys_of_constraints(spec, wish);
  for (const json::value& one : kube::array_at(spec, {"affinity", "podAffinity", preferred_terms}))
    if (const json::value* term = kube::find(one, {"podAffinityTerm"})) add_key(keys, *term);
  return {keys.begin(), keys.end()};
}

std::vector<std::string> unmet_topology_keys(const kube::Object& local_pod, const kube::Object& remote_pod) {
  const std::string_view note = remote_pod.annotation(api::annotations::missing_topology_keys);
  if (note.empty()) return {};
  Keys demanded = keys_of_constraints(local_pod.spec(), demand);
  for (const json::value& term : kube::array_at(local_pod.spec(), {"affinity", "podAffinity", required_terms}))
    add_key(demanded, term);
  std::vector<std::string> unmet;
  for (std::string& key : read_left_out(note))
    if (demanded.contains(key) && std::ranges::find(unmet, key) == unmet.end()) unmet.push_back(std::move(key));
  return unmet;
}

}  // namespace liqo::core
