// Evictions on the fake API server, which go by PodDisruptionBudgets if it serves these.
#include "budgets.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "request.hpp"
#include "semantics.hpp"

namespace kube::testing {

namespace {

/// Refused: what the budget asks for would not be there any more, or it is not known yet whether it would.
std::unexpected<Refusal> against_budget(std::string message, int retry_after_seconds) {
  Refusal refusal{429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {}};
  refusal.details["causes"] =
      json::array{json::object{{"reason", "DisruptionBudget"}, {"message", std::move(message)}}};
  if (retry_after_seconds > 0) refusal.details["retryAfterSeconds"] = retry_after_seconds;
  return std::unexpected(std::move(refusal));
}

/// Whether the end of the pod disrupts nothing, whatever budgets say.
bool is_no_disruption(const json::object& pod) {
  const std::string_view phase = string_at(pod, {"status", "phase"});
  return is_deleting(pod) || is_finished(pod) || phase == "Pending" || phase.empty();
}

/// Whether the budget lets a pod go that is not ready.
bool lets_unhealthy_go(const json::object& budget) {
  if (string_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return true;
  const std::int64_t desired = int_at(budget, {"status", "desiredHealthy"});
  return desired > 0 && int_at(budget, {"status", "currentHealthy"}) >= desired;
}

}  // namespace

Answer<> FakeApiServer::spend_disruption(const json::object& pod, std::string_view actor) {
  FakeTable* budgets = store_.find(disruption_budgets.group, disruption_budgets.version, disruption_budgets.plural);
  if (!budgets || is_no_disruption(pod)) return {};
  Tree found;
  for (const auto& [key, budget] : budgets->objects) {
    if (key.ns != string_at(pod, {"metadata", "namespace"}) || !selects(*budget, pod)) continue;
    if (found)
      return std::unexpected(refuse::internal_error(
          "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."));
    found = budget;
  }
  if (!found || (!is_ready(pod) && lets_unhealthy_go(*found))) return {};
  const std::string name(string_at(*found, {"metadata", "name"}));
  if (int_at(*found, {"status", "observedGeneration"}) < int_at(*found, {"metadata", "generation"}))
    return against_budget("The disruption budget " + name + " is still being processed by the server.", 10);
  const std::int64_t allowed = int_at(*found, {"status", "disruptionsAllowed"});
  if (allowed <= 0)
    return against_budget("The disruption budget " + name + " needs " +
                              std::to_string(int_at(*found, {"status", "desiredHealthy"})) + " healthy pods and has " +
                              std::to_string(int_at(*found, {"status", "currentHealthy"})) + " currently",
                          0);
  json::object spent = *found;
  json::object& status = ensure_object(spent, "status");
  status["disruptionsAllowed"] = allowed - 1;
  ensure_object(status, "disruptedPods")[string_at(pod, {"metadata", "name"})] = format_time(store_.clock().wall());
  static_cast<void>(store_.put(*budgets, std::move(spent), actor));
  return {};
}

Answer<Tree> FakeApiServer::evict(const FakeRequest& request, std::string_view actor) {
  const Tree pod = request.table->objects.at(request.key);
  DeleteOptions options;
  options.uid = string_at(request.body, {"deleteOptions", "preconditions", "uid"});
  KUBE_TRYV(spend_disruption(*pod, actor));
  return remove(*request.table, request.key, options, actor);
}

}  // namespace kube::testing
