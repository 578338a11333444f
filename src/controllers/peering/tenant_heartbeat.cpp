#include "controllers/peering/tenant_heartbeat.hpp"

#include <utility>
#include <variant>

#include "core/peering/heartbeat.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {

namespace json = kube::json;

TenantHeartbeat::TenantHeartbeat(const kube::InformerHandle& tenants, Context context)
    : tenants_(tenants), context_(std::move(context)) {}

void TenantHeartbeat::forget(std::string_view uid) {
  if (const auto known = last_.find(uid); known != last_.end()) last_.erase(known);
}

kube::WallTime TenantHeartbeat::seen(const kube::Object& tenant, const kube::Object& lease, kube::WallTime now) {
  const std::string_view time = kube::string_at(lease.spec(), {"renewTime"});
  Heartbeat& last = last_[std::string(tenant.uid())];
  if (last.time == time) return last.seen;
  last.time = time;
  // An earlier process may have seen it.
  last.seen = core::kept_heartbeat(tenant, time, now).value_or(now);
  return last.seen;
}

asio::awaitable<kube::Result<void>> TenantHeartbeat::keep(kube::Object tenant, std::optional<json::object> patch) {
  const std::string uid(tenant.uid());
  // A consumer may write another time at every look.
  if (!patch || context_.clock.now() < last_[uid].kept_next) co_return kube::Result<void>();
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *tenants_, tenant.key(),
      {.body = json::serialize(*patch), .phase = "keeping when a heartbeat was seen that is far ahead"}));
  if (const auto last = last_.find(uid); last != last_.end())
    last->second.kept_next = context_.clock.now() + core::heartbeat_interval;
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TenantHeartbeat::watch(kube::Object tenant) {
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
  const core::HeartbeatSight sight{.lease = *lease, .tenant = tenant, .now = now, .seen = seen(tenant, *lease, now)};
  const core::SilencePlan plan = core::plan_silence(sight, max_silence);
  if (const auto* wait = std::get_if<core::silence_action::LookAgain>(&plan)) {
    KUBE_CO_TRYV(co_await keep(tenant, core::plan_kept_heartbeat(sight, max_silence)));
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
