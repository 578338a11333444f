#include "kube/testing/fake_quota_controller.hpp"

namespace kube::testing {
namespace {

constexpr std::string_view actor = "resourcequota-controller";
constexpr std::string_view plural = "resourcequotas";
constexpr std::string_view count_prefix = "count/";
constexpr Resource resource_quotas{"", "v1", plural, "ResourceQuota"};

}  // namespace

FakeQuotaController::FakeQuotaController(Simulator& simulator, FakeApiServer& server, Duration delay)
    : simulator_(simulator), server_(server), delay_(delay) {
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeQuotaController::seen(const FakeChange& change) {
  const std::string& ns = change.key.ns;
  if (change.kind->plural == plural) {
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
  for (const ObjectKey& key : std::set<ObjectKey>(quotas_[ns])) {
    const Tree quota = server_.get(resource_quotas, key);
    if (!quota) continue;
    const json::object& hard = object_at(*quota, {"spec", "hard"});
    json::object used;
    for (const auto& [name, most] : hard) {
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
    (void)server_.update(
        resource_quotas, key, "status", [&status](json::object& next) { next["status"] = status; }, actor);
  }
}

}  // namespace kube::testing
