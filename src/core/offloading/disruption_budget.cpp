#include "core/offloading/disruption_budget.hpp"

#include <algorithm>
#include <limits>

#include "core/common/meta.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

const json::object& disrupted(const kube::Object& budget) {
  return kube::object_at(budget.status(), {"disruptedPods"});
}

bool is_of_spec(const kube::Object& budget) {
  return budget.generation() > 0 && kube::int_at(budget.status(), {"observedGeneration"}) >= budget.generation();
}

}  // namespace

BudgetPlan plan_budget(const BudgetView& view) {
  BudgetPlan plan;
  const PodNames nothing;
  const PodNames& wanted = view.copy ? view.copy->wanted : nothing;
  std::int64_t kept = 0;
  for (const std::string& name : view.lent) {
    if (wanted.contains(name))
      ++kept;
    else
      plan.take_back.insert(name);
  }
  for (const BudgetPod& pod : view.pods)
    if (pod.is_ready && wanted.contains(pod.name) && !view.lent.contains(pod.name) &&
        std::ssize(plan.lend) < view.allowed)
      plan.lend.insert(pod.name);
  // A pod that has gone at home may still be evicted there.
  const std::int64_t healthy = view.copy && view.copy->is_in_force ? view.copy->healthy : 0;
  plan.min_available =
      std::clamp<std::int64_t>(std::max<std::int64_t>(std::ssize(view.pods), healthy) - kept, 0, largest);
  return plan;
}

bool could_take_back(const BudgetView& view, const BudgetPlan& plan) {
  return !view.copy || (view.copy->is_in_force && view.copy->min_available >= plan.min_available);
}

bool may_take_back(const BudgetView& view, const BudgetPlan& plan, const PodNames& ready_there) {
  const PodNames nothing;
  const PodNames& leaving = view.copy ? view.copy->leaving : nothing;
  return could_take_back(view, plan) && std::ranges::all_of(view.pods, [&](const BudgetPod& pod) {
           return !pod.is_ready || (ready_there.contains(pod.name) && !leaving.contains(pod.name));
         });
}

std::int64_t allowed_now(const kube::Object& budget) {
  return is_of_spec(budget) ? std::max<std::int64_t>(kube::int_at(budget.status(), {"disruptionsAllowed"}), 0) : 0;
}

PodNames lent_pods(const kube::Object& budget, const std::vector<BudgetPod>& pods, kube::WallTime now) {
  PodNames lent;
  const json::object& entries = disrupted(budget);
  for (const BudgetPod& pod : pods) {
    const auto until = kube::parse_time(kube::string_at(entries, {pod.name}));
    if (until && *until > now + lent_at_least) lent.insert(pod.name);
  }
  return lent;
}

kube::Object lend(kube::Object budget, const PodNames& pods, kube::WallTime now) {
  json::object& status = budget.mutable_status();
  status["disruptionsAllowed"] = std::max<std::int64_t>(allowed_now(budget) - std::ssize(pods), 0);
  json::object& entries = kube::ensure_object(status, "disruptedPods");
  for (const std::string& name : pods) entries[name] = kube::format_time(now + lent_for);
  return budget;
}

kube::Object take_back(kube::Object budget, const PodNames& pods) {
  json::object& entries = kube::ensure_object(budget.mutable_status(), "disruptedPods");
  // Kubernetes counts anew what is allowed.
  for (const std::string& name : pods) entries.erase(name);
  return budget;
}

BudgetCopy read_budget_copy(const kube::Object& copy) {
  BudgetCopy read{.min_available = kube::int_at(copy.spec(), {"minAvailable"}),
                  .is_in_force = is_of_spec(copy),
                  .healthy = kube::int_at(copy.status(), {"currentHealthy"}),
                  .wanted = {},
                  .leaving = {}};
  for (const std::string_view name : kube::split(copy.annotation(api::annotations::evictions_wanted), ','))
    if (!name.empty()) read.wanted.emplace(name);
  for (const auto& [name, at] : disrupted(copy)) read.leaving.emplace(std::string_view(name));
  return read;
}

BudgetsInTwin budgets_in_twin(const kube::Object& twin) {
  if (twin.annotation(api::annotations::holds_budgets) != "true") return BudgetsInTwin::refused;
  return twin.has_annotation(api::annotations::budgets_lifted) ? BudgetsInTwin::lifted : BudgetsInTwin::held;
}

bool is_copied(const kube::Object& budget) {
  const json::value* selector = budget.spec().if_contains("selector");
  const bool is_skipped = budget.has_annotation(api::annotations::skip_reflection) &&
                          budget.annotation(api::annotations::skip_reflection) != "false";
  return selector && selector->is_object() && !budget.is_deleting() && !is_skipped;
}

kube::Object forge_budget_copy(const kube::Object& budget, const ClusterPair& clusters, std::string_view twin,
                               std::int64_t min_available) {
  kube::Object copy =
      kube::Object::make(api::kinds::disruption_budgets, {std::string(twin), std::string(budget.name())});
  copy.set_label(api::labels::reflection_origin, clusters.local);
  copy.set_label(api::labels::reflection_destination, clusters.remote);
  json::object& spec = copy.mutable_spec();
  spec["minAvailable"] = min_available;
  spec["selector"] = kube::object_at(budget.spec(), {"selector"});
  spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow";
  return copy;
}

std::optional<kube::Object> plan_budget_copy(const kube::Object& live, const kube::Object& wanted) {
  if (live.spec() == wanted.spec() && covers(live.labels(), wanted.labels())) return std::nullopt;
  kube::Object changed = live;
  changed.set_kind(api::kinds::disruption_budgets);
  changed.tree()["spec"] = wanted.spec();
  changed.set_labels(wanted.labels());
  return changed;
}

std::string selector_text(const json::object& selector) {
  std::vector<std::string> terms;
  for (const auto& [key, value] : kube::object_at(selector, {"matchLabels"}))
    terms.push_back(std::string(std::string_view(key)) + "=" + std::string(kube::string_at(value, {})));
  for (const json::value& each : kube::array_at(selector, {"matchExpressions"})) {
    const std::string key(kube::string_at(each, {"key"}));
    const std::string_view op = kube::string_at(each, {"operator"});
    const std::vector<std::string> values = kube::strings_in(kube::array_at(each, {"values"}));
    // A list in parentheses cannot say that its only value is empty.
    const bool is_one = values.size() == 1;
    const std::string listed = is_one ? values.front() : "(" + kube::join(values, ",") + ")";
    if (op == "In") terms.push_back(key + (is_one ? "=" : " in ") + listed);
    if (op == "NotIn") terms.push_back(key + (is_one ? "!=" : " notin ") + listed);
    if (op == "Exists") terms.push_back(key);
    if (op == "DoesNotExist") terms.push_back("!" + key);
  }
  return kube::join(terms, ",");
}

}  // namespace liqo::core
