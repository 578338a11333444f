// Enforces the state of a tenant that is drained, has been silent for long, or has an invalid policy.
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "controllers/common/drain_grace.hpp"
#include "controllers/peering/tenant.hpp"
#include "core/admission/tenant_policy.hpp"
#include "core/peering/heartbeat.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;

/// The number of pods that are looked at in one turn of the loop.
constexpr std::size_t max_looked_at_in_a_turn = 50;
/// An API server forgets an Event within an hour.
constexpr kube::Duration time_reported = std::chrono::minutes(30);
constexpr std::string_view grace_field = "deletionGracePeriodSeconds";

}  // namespace

std::int64_t TenantController::drain_grace(std::string_view tenant_namespace) const {
  return drain_grace_of(namespaces_.annotation(tenant_namespace, api::annotations::pod_policy));
}

bool TenantController::outlives_drain(const kube::Object& pod, std::int64_t max_grace) {
  return pod.is_deleting() && kube::int_at(pod.metadata(), {grace_field}) > max_grace;
}

asio::awaitable<kube::Result<void>> TenantController::shorten_grace(kube::Object tenant) {
  const std::int64_t max_grace = drain_grace(tenant.ns());
  std::size_t looked_at = 0;
  for (const kube::ObjectKey& key : keys_in_twins(*pods_, api::Tenant(tenant).cluster_id())) {
    // Hardly one of thousands has to be ended sooner.
    if (++looked_at % max_looked_at_in_a_turn == 0) co_await asio::post(asio::use_awaitable);
    const auto pod = pods_->find(key);
    if (!pod || !outlives_drain(*pod, max_grace)) continue;
    if (!ends_pods(tenant)) break;
    KUBE_CO_TRYV(
        co_await kube::remove_object(context_.home.api(), kube::resources::pods, key,
                                     {.options = {.uid = std::string(pod->uid()), .grace_period_seconds = max_grace},
                                      .phase = "ending the drained tenant's pods sooner"}));
  }
  co_return kube::Result<void>();
}

void TenantController::report_policy(const kube::Object& tenant) {
  const std::string uid(tenant.uid()), consumer(api::Tenant(tenant).cluster_id()),
      policy(namespaces_.annotation(tenant.ns(), api::annotations::pod_policy));
  std::string why = core::admission::why_unreadable(policy);
  const bool is_readable = why.empty();
  if (is_readable) why = core::admission::mistaken_service_type(policy);
  if (why.empty()) {
    reported_policies_.erase(uid);
    return;
  }
  auto& [told, quiet_until] = reported_policies_[uid];
  const kube::TimePoint now = context_.clock.now();
  const bool is_told = told == why && now < quiet_until;
  if (!is_told) quiet_until = now + time_reported;
  controller_.enqueue_after({std::string(tenant.ns()), tenant.key()}, quiet_until - now);
  if (is_told) return;
  told = std::move(why);
  const std::string_view reason = is_readable ? "PolicyForbidsNothing" : "PolicyUnreadable";
  const std::string text =
      "the policy of cluster " + consumer + " (annotation liqo.io/pod-policy of namespace " + std::string(tenant.ns()) +
      (is_readable
           ? ") forbids nothing by a name under refusedServiceTypes: " + told + (told.ends_with('?') ? " " : ". ") +
                 "liqoctl set tenant " + consumer + " --forbid refusedServiceTypes=TYPE refuses a type"
           : ") cannot be read (" + told + "), so nothing new of " + consumer +
                 " is admitted: " + core::admission::policy_remedy(policy, consumer));
  context_.events.warning(tenant, api::kinds::tenants, reason, text);
  if (const auto ns = consumer_namespaces_->find({"", std::string(tenant.ns())}))
    context_.events.warning(*ns, kube::resources::namespaces, reason, text);
  log_.error(is_readable ? "the policy of a consumer forbids nothing by one of its names"
                         : "the policy of a consumer cannot be read, so nothing new of it is admitted",
             {{"tenant", tenant.key()}, {"cluster", consumer}, {"error", told}});
}

kube::WallTime TenantController::heartbeat_seen(const kube::Object& tenant, const kube::Object& lease,
                                                kube::WallTime now) {
  const std::string_view time = kube::string_at(lease.spec(), {"renewTime"});
  Heartbeat& last = heartbeats_[std::string(tenant.uid())];
  if (last.time == time) return last.seen;
  last.time = time;
  // An earlier process may have seen it.
  last.seen = core::kept_heartbeat(tenant, time, now).value_or(now);
  return last.seen;
}

asio::awaitable<kube::Result<void>> TenantController::keep_heartbeat(kube::Object tenant,
                                                                     std::optional<json::object> patch) {
  const std::string uid(tenant.uid());
  // A consumer may write another time at every look.
  if (!patch || context_.clock.now() < heartbeats_[uid].kept_next) co_return kube::Result<void>();
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *tenants_, tenant.key(),
      {.body = json::serialize(*patch), .phase = "keeping when a heartbeat was seen that is far ahead"}));
  if (const auto last = heartbeats_.find(uid); last != heartbeats_.end())
    last->second.kept_next = context_.clock.now() + core::heartbeat_interval;
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantController::watch_heartbeat(kube::Object tenant) {
  const kube::Duration max_silence = context_.settings.peering.max_tenant_silence;
  if (max_silence <= kube::Duration::zero() || api::Tenant(tenant).condition() != api::TenantCondition::active)
    co_return std::nullopt;
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{std::string(tenant.ns()), std::string(core::heartbeat_lease)};
  auto lease = co_await home.get(kube::resources::leases, key);
  if (!lease && lease.error().is_not_found())
    lease = co_await home.create(kube::resources::leases, core::forge_heartbeat_lease(tenant));
  if (!lease) co_return kube::fail(std::move(lease.error()), "looking for the heartbeat of the consumer");
  const kube::WallTime now = context_.clock.wall();
  const core::HeartbeatSight sight{
      .lease = *lease, .tenant = tenant, .now = now, .seen = heartbeat_seen(tenant, *lease, now)};
  const core::SilencePlan plan = core::plan_silence(sight, max_silence);
  if (const auto* wait = std::get_if<core::silence_action::LookAgain>(&plan)) {
    KUBE_CO_TRYV(co_await keep_heartbeat(tenant, core::plan_kept_heartbeat(sight, max_silence)));
    co_return wait->after;
  }
  const auto& [last, since] = std::get<core::silence_action::Cordon>(plan);
  KUBE_CO_TRY(patched, co_await kube::merge_patch(home, *tenants_, tenant.key(),
                                                  {.body = json::serialize(core::silence_patch(tenant, last)),
                                                   .phase = "cordoning a tenant of which nobody has heard"}));
  if (!patched) co_return std::nullopt;
  const std::string consumer(api::Tenant(tenant).cluster_id());
  context_.events.warning(tenant, api::kinds::tenants, "TenantSilent",
                          "nobody has heard of cluster " + consumer + " since " + since +
                              ": it is cordoned; liqoctl uncordon tenant " + std::string(tenant.name()) +
                              " lets it go on");
  co_return std::nullopt;
}

}  // namespace liqo::controllers
