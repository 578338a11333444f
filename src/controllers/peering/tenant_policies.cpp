#include "controllers/peering/tenant_policies.hpp"

#include <utility>

#include "core/admission/tenant_policy.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {
namespace {

/// An API server forgets an Event within an hour.
constexpr kube::Duration time_reported = std::chrono::minutes(30);

}  // namespace

TenantPolicies::TenantPolicies(const TenantNamespaces& namespaces, Context context)
    : namespaces_(namespaces),
      context_(std::move(context)),
      consumer_namespaces_(
          context_.home.acquire({.resource = kube::resources::namespaces,
                                 .selection = {.label_selector = std::string(api::labels::remote_cluster_id)}})) {}

void TenantPolicies::forget(std::string_view uid) {
  if (const auto known = reported_.find(uid); known != reported_.end()) reported_.erase(known);
}

std::optional<kube::Duration> TenantPolicies::report(const kube::Object& tenant) {
  const std::string uid(tenant.uid()), consumer(api::Tenant(tenant).cluster_id()),
      policy(namespaces_.annotation(tenant.ns(), api::annotations::pod_policy));
  std::string why = core::admission::why_unreadable(policy);
  const bool is_readable = why.empty();
  if (is_readable) why = core::admission::mistaken_service_type(policy);
  if (why.empty()) {
    reported_.erase(uid);
    return std::nullopt;
  }
  auto& [reported, quiet_until] = reported_[uid];
  const kube::TimePoint now = context_.clock.now();
  if (reported == why && now < quiet_until) return quiet_until - now;
  quiet_until = now + time_reported;
  reported = std::move(why);
  const std::string_view reason = is_readable ? "PolicyForbidsNothing" : "PolicyUnreadable";
  const std::string text = "the policy of cluster " + consumer + " (annotation liqo.io/pod-policy of namespace " +
                           std::string(tenant.ns()) +
                           (is_readable ? ") forbids nothing by a name under refusedServiceTypes: " + reported +
                                              (reported.ends_with('?') ? " " : ". ") + "liqoctl set tenant " +
                                              consumer + " --forbid refusedServiceTypes=TYPE refuses a type"
                                        : ") cannot be read (" + reported + "), so nothing new of " + consumer +
                                              " is admitted: " + core::admission::policy_remedy(policy, consumer));
  context_.events.warning(tenant, api::kinds::tenants, reason, text);
  if (const auto ns = consumer_namespaces_->find({"", std::string(tenant.ns())}))
    context_.events.warning(*ns, kube::resources::namespaces, reason, text);
  log_.error(is_readable ? "the policy of a consumer forbids nothing by one of its names"
                         : "the policy of a consumer cannot be read, so nothing new of it is admitted",
             {{"tenant", tenant.key()}, {"cluster", consumer}, {"error", reported}});
  return time_reported;
}

}  // namespace liqo::controllers
