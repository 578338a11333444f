#include "kube/testing/fake/quota_controller.hpp"

#include "kube/base/quantity.hpp"
#include "kube/k8s/resource.hpp"
#include "semantics.hpp"

namespace kube::testing {
namespace {

constexpr std::string_view actor = "resourcequota-controller";
constexpr std::string_view plural = "resourcequotas";
constexpr std::string_view count_prefix = "count/";
const std::string requests_prefix = "requests.";
constexpr Resource resource_quotas{"", "v1", plural, "ResourceQuota"};

/// What the pods of a namespace that have not ended request, and how many they are.
std::map<std::string, Quantity> usage_of_pods(FakeApiServer& server, const std::string& ns) {
  std::map<std::string, Quantity> used;
  for (const Tree& pod : server.list(resources::pods, ns)) {
    if (is_finished(*pod)) continue;
    used["pods"] += Quantity(1);
    for (const json::value& container : array_at(*pod, {"spec", "containers"}))
      for (const auto& [name, amount] : object_at(container, {"resources", "requests"}))
        used[requests_prefix + std::string(name)] += Quantity::from_json(amount).value_or(Quantity());
  }
  return used;
}

}  // namespace

FakeQuotaController::FakeQuotaController(Simulator& simulator, FakeApiServer& server, Duration delay)
    : simulator_(simulator), server_(server), delay_(delay) {
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeQuotaController::seen(const FakeChange& change) {
  const std::string& ns = change.key.ns;
  if (is_core(*change.kind, plural)) {
    if (change.type == ChangeType::deleted)
      quotas_[ns].erase(change.key);
    else
      quotas_[ns].insert(change.key);
  }
  if (stopped_ || ns.empty() || !quotas_.contains(ns) || quotas_[ns].empty() || !due_.insert(ns).second) return;
  simulator_.clock().call_in(delay_, [this, ns] { count(ns); });
}

void FakeQuotaController::count(const std::string& ns) {
  due_.erase(ns);
  const auto pods = usage_of_pods(server_, ns);
  for (const ObjectKey& key : std::set<ObjectKey>(quotas_[ns])) {
    const Tree quota = server_.get(resource_quotas, key);
    if (!quota) continue;
    const json::object& hard = object_at(*quota, {"spec", "hard"});
    json::object used;
    for (const auto& [name, most] : hard) {
      if (const auto counted = pods.find(std::string(name)); counted != pods.end()) {
        used[name] = counted->second.text();
        continue;
      }
      std::string_view kind = name;
      std::size_t have = 0;
      if (kind.starts_with(count_prefix)) {
        kind.remove_prefix(count_prefix.size());
        const std::size_t dot = std::min(kind.find('.'), kind.size());
        const std::string_view group = dot < kind.size() ? kind.substr(dot + 1) : std::string_view();
        for (const auto& [place, table] : server_.store().tables())
          if (table.kind.plural == kind.substr(0, dot) && table.kind.group == group)
            for (const auto& [object, tree] : table.objects)
              if (object.ns == ns) ++have;
      }
      used[name] = std::to_string(have);
    }
    const json::object status{{"hard", hard}, {"used", std::move(used)}};
    if (object_at(*quota, {"status"}) == status) continue;
    static_cast<void>(server_.update(
        {resource_quotas, key, "status"}, [&status](json::object& next) { next["status"] = status; }, actor));
  }
}

}  // namespace kube::testing
