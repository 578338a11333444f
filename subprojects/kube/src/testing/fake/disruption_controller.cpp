#include "kube/testing/fake/disruption_controller.hpp"

#include <algorithm>
#include <optional>

#include "budgets.hpp"
#include "semantics.hpp"

namespace kube::testing {

using namespace std::chrono_literals;

namespace {

/// How long a pod whose eviction was allowed does not count, although nobody deletes it.
constexpr std::chrono::minutes deletion_timeout{2};
/// The time between what a count has seen and its store.
constexpr Duration store_high = 20ms;

/// The entries of `status.disruptedPods` that still hold.
json::object disrupted_pods(const json::object& budget, const std::vector<Tree>& pods, WallTime now) {
  json::object kept;
  const json::object& entries = object_at(budget, {"status", "disruptedPods"});
  for (const Tree& pod : pods) {
    const std::string_view name = string_at(*pod, {"metadata", "name"});
    const auto since = parse_time(string_at(entries, {name}));
    if (since && !is_deleting(*pod) && *since + deletion_timeout >= now) kept[name] = string_at(entries, {name});
  }
  return kept;
}

/// The status of the budget for these pods, which it selects.
json::object counted(const json::object& budget, const std::vector<Tree>& pods, WallTime now) {
  json::object disrupted = disrupted_pods(budget, pods, now);
  const auto healthy = std::ranges::count_if(pods, [&](const Tree& pod) {
    return !is_deleting(*pod) && is_ready(*pod) && !disrupted.contains(string_at(*pod, {"metadata", "name"}));
  });
  const std::int64_t least = int_at(budget, {"spec", "minAvailable"});
  json::object status = object_at(budget, {"status"});
  status["currentHealthy"] = healthy;
  status["desiredHealthy"] = least;
  status["expectedPods"] = std::ssize(pods);
  status["disruptionsAllowed"] = std::max<std::int64_t>(pods.empty() ? 0 : healthy - least, 0);
  status["observedGeneration"] = int_at(budget, {"metadata", "generation"});
  if (disrupted.empty())
    status.erase("disruptedPods");
  else
    status["disruptedPods"] = std::move(disrupted);
  return status;
}

}  // namespace

bool selects(const json::object& budget, const json::object& pod) {
  const json::value* selector = find(budget, {"spec", "selector"});
  if (!selector || !selector->is_object()) return false;
  const json::object& labels = object_at(pod, {"metadata", "labels"});
  return std::ranges::all_of(object_at(*selector, {"matchLabels"}), [&](const auto& wanted) {
    const json::value* have = labels.if_contains(wanted.key());
    return have && *have == wanted.value();
  });
}

bool is_ready(const json::object& pod) {
  return std::ranges::any_of(array_at(pod, {"status", "conditions"}), [](const json::value& condition) {
    return string_at(condition, {"type"}) == "Ready" && string_at(condition, {"status"}) == "True";
  });
}

FakeDisruptionController::FakeDisruptionController(Simulator& simulator, FakeApiServer& server, Duration delay_high)
    : simulator_(simulator), server_(server), delay_high_(delay_high), random_(simulator.random().next()) {
  server_.serve(FakeKind{.group = std::string(disruption_budgets.group),
                         .version = std::string(disruption_budgets.version),
                         .plural = std::string(disruption_budgets.plural),
                         .kind = std::string(disruption_budgets.kind),
                         .status_subresource = true,
                         .generation = true});
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeDisruptionController::seen(const FakeChange& change) {
  if (change.kind->plural == disruption_budgets.plural && change.kind->group == disruption_budgets.group) {
    if (change.type != ChangeType::deleted) count_later(change.key);
    return;
  }
  if (!is_core(*change.kind, "pods")) return;
  for (const auto& [key, budget] : server_.store().table(disruption_budgets).objects)
    if (key.ns == change.key.ns &&
        (selects(*budget, *change.after) || (change.before && selects(*budget, *change.before))))
      count_later(key);
}

void FakeDisruptionController::count_later(const ObjectKey& key) {
  if (!due_.insert(key).second) return;
  simulator_.clock().call_in(random_.between(Duration(1ms), std::max<Duration>(delay_high_, 1ms)),
                             [this, key] { count(key); });
}

void FakeDisruptionController::count(const ObjectKey& key) {
  due_.erase(key);
  const Tree budget = server_.get(disruption_budgets, key);
  if (!budget) return;
  std::vector<Tree> pods = server_.list(resources::pods, key.ns);
  std::erase_if(pods, [&](const Tree& pod) { return !selects(*budget, *pod); });
  json::object status = counted(*budget, pods, simulator_.clock().wall());
  count_after(key, object_at(status, {"disruptedPods"}));
  if (status == object_at(*budget, {"status"})) return;
  // Others may write in between: then what was counted is for a version that is no more.
  simulator_.clock().call_in(
      random_.between(Duration(1ms), store_high),
      [this, key, version = std::string(string_at(*budget, {"metadata", "resourceVersion"})),
       status = std::move(status)] {
        const Tree now = server_.get(disruption_budgets, key);
        if (!now) return;
        if (string_at(*now, {"metadata", "resourceVersion"}) != version) return count_later(key);
        static_cast<void>(server_.update(
            {disruption_budgets, key, "status"}, [&status](json::object& next) { next["status"] = status; }, actor));
      });
}

void FakeDisruptionController::count_after(const ObjectKey& key, const json::object& disrupted) {
  std::optional<WallTime> first;
  for (const auto& [name, entry] : disrupted)
    if (const auto since = parse_time(string_at(entry, {}))) first = std::min(first.value_or(*since), *since);
  if (!first) return;
  const TimePoint now = simulator_.clock().now();
  const TimePoint at = now + (*first + deletion_timeout + 1s - simulator_.clock().wall());
  if (const auto known = expiry_.find(key); known != expiry_.end() && known->second > now && known->second <= at)
    return;
  expiry_[key] = at;
  simulator_.clock().call_at(at, [this, key] { count_later(key); });
}

}  // namespace kube::testing
