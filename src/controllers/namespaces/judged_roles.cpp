#include "controllers/namespaces/judged_roles.hpp"

#include <utility>

#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

namespace kinds = api::kinds;

asio::awaitable<kube::Result<JudgedRoles::Roles>> JudgedRoles::look_at(std::vector<std::string> names) {
  Roles roles;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    const auto known = judged_.find(name);
    const kube::TimePoint now = context_.clock.now();
    const bool is_known =
        known != judged_.end() &&
        now - known->second.at < (known->second.verdict.refusal.empty() ? look_interval : retry_interval);
    if (!is_known) {
      Judged judged{.at = now, .verdict = {}};
      auto role = co_await context_.home.api().get(kinds::cluster_roles, {"", name});
      if (role) {
        judged.verdict = core::judge_tenant_role(*role);
        if (!judged.verdict.refusal.empty())
          judged.verdict.refusal = "ClusterRole " + name + " is not bound: " + judged.verdict.refusal +
                                   ". Take that out of it, or take it out of clusterRoles in the policy.";
      } else if (role.error().is_forbidden()) {
        judged.verdict.refusal = "ClusterRole " + name +
                                 " is not among those that Liqo may bind: list it in the value "
                                 "offloading.tenantClusterRoles of the chart.";
      } else if (role.error().is_not_found()) {
        judged.verdict.refusal = "ClusterRole " + name + " does not exist: create it.";
      } else if (judged_.contains(name)) {
        judged.verdict = judged_[name].verdict;
      } else {
        // Bound roles stay bound until more is known.
        co_return kube::fail(std::move(role.error()), "reading ClusterRole " + name);
      }
      judged_[name] = std::move(judged);
    }
    const core::RoleVerdict& verdict = judged_[name].verdict;
    if (!verdict.refusal.empty()) {
      roles.refusals.push_back(verdict.refusal);
      continue;
    }
    roles.bound.insert(name);
    roles.kinds.insert(verdict.writable.begin(), verdict.writable.end());
  }
  co_return roles;
}

void JudgedRoles::forget_unless(const std::function<bool(const std::string&)>& is_named) {
  std::erase_if(judged_, [&](const auto& judged) { return !is_named(judged.first); });
}

}  // namespace liqo::controllers
