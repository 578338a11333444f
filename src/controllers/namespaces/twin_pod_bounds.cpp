#include "controllers/namespaces/twin_pod_bounds.hpp"

#include <algorithm>
#include <utility>

#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/quota/demand.hpp"
#include "kube/base/text.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace annotations = api::annotations;
namespace kinds = api::kinds;
namespace labels = api::labels;

/// Changes at the same moment are planned together.
constexpr kube::Duration settle_time = 50ms;
constexpr std::chrono::seconds look_interval = JudgedRoles::look_interval, retry_interval = JudgedRoles::retry_interval;
constexpr kube::Duration changed_pause = 200ms;

constexpr std::string_view by_tenant = "bounds-tenant", by_twin = "bounds-twin";

void index_twin(const kube::Object& ns, std::vector<std::string>& out) {
  const std::string_view map = ns.annotation(annotations::managed_by_namespace_map);
  if (!map.empty() && !core::is_tenant_namespace(ns)) out.emplace_back(map.substr(0, map.find('/')));
}
void index_role_binding(const kube::Object& binding, std::vector<std::string>& out) {
  if (core::is_tenant_role_binding(binding)) out.emplace_back(binding.ns());
}

kube::ObjectKey quota_of(const std::string& twin) { return {twin, std::string(core::twin_pods_quota_name)}; }

/// The first failure counts; the others are tried as well.
void note(kube::Result<void>& result, kube::Failure failure, std::string_view what) {
  if (result) result = kube::fail(std::move(failure), what);
}

}  // namespace

TwinPodBounds::TwinPodBounds(Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = kinds::shadow_pods})),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      bindings_(context.home.acquire({.resource = kinds::role_bindings, .selection = core::kept_by_liqo()})),
      bounds_(context.home.acquire({.resource = kinds::resource_quotas, .selection = core::kept_by_liqo()})),
      grants_(context.home.acquire({.resource = kinds::quotas})),
      judged_(context),
      controller_(context,
                  {.name = "twinpodbounds",
                   .fill =
                       [this] {
                         for (const auto& [tenant, roles] : roles_) enqueue(tenant);
                       }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  namespaces_->add_index(std::string(by_tenant), index_twin);
  bindings_->add_index(std::string(by_twin), index_role_binding);
  const auto pod_changed = [this](const kube::ObjectKey& key) { recount(key); };
  controller_.watch(shadows_, pod_changed);
  controller_.watch(pods_, pod_changed);
  controller_.follow(namespaces_, [this](const kube::Change& ns) { see_namespace(ns); });
  controller_.watch(grants_, [this](const kube::ObjectKey& key) { enqueue(key.ns); });
  const auto twin_changed = [this](const kube::ObjectKey& key) { enqueue(tenant_of(key.ns)); };
  controller_.watch(bounds_, [twin_changed](const kube::ObjectKey& key) {
    if (key.name == core::twin_pods_quota_name) twin_changed(key);
  });
  controller_.watch(bindings_, [this, twin_changed](const kube::ObjectKey& key) {
    // The RoleBinding that every twin has is named after the tenant namespace.
    if (key.name != tenant_of(key.ns)) twin_changed(key);
  });
}

void TwinPodBounds::enqueue(const std::string& tenant) {
  if (roles_.contains(tenant)) controller_.enqueue_after({tenant, {"", tenant}}, settle_time);
}

std::string TwinPodBounds::tenant_of(const std::string& ns) const {
  const auto found = twins_.find(ns);
  return found == twins_.end() ? "" : found->second;
}

void TwinPodBounds::see_namespace(const kube::Change& change) {
  const std::string& name = change.key.name;
  const kube::Object* ns = change.now;
  if (ns && core::is_tenant_namespace(*ns)) {
    const auto policy = core::read_pod_policy(ns->annotation(annotations::pod_policy));
    std::vector<std::string> roles = policy ? policy->cluster_roles : std::vector<std::string>();
    // A consumer that once had roles may have left something, even before this process began.
    const bool is_new = !roles_.contains(name);
    if (!is_new && roles_[name] == roles) {
      enqueue(name);
      return;
    }
    roles_[name] = std::move(roles);
    forget_roles();
    if (!roles_[name].empty() && !surroundings_) {
      surroundings_.emplace(context_.home);
      surroundings_->subscribe([this](const std::string& ns) { recount_twin(ns); },
                               [this](const std::string&) {
                                 for (const std::string& twin : count_.twins()) recount_twin(twin);
                               });
    }
    for (const kube::ObjectKey& twin : namespaces_->store().keys(by_tenant, name)) recount_twin(twin.name);
    enqueue(name);
    return;
  }
  if (!ns) {
    if (roles_.erase(name) > 0) forget_roles();
    reported_.erase(name);
  }
  std::vector<std::string> tenants;
  if (ns) index_twin(*ns, tenants);
  const std::string before = tenant_of(name), now = tenants.empty() ? "" : tenants.front();
  if (now.empty())
    twins_.erase(name);
  else
    twins_[name] = now;
  if (!ns) last_used_.erase(name);
  if (!ns) uncounted_.erase(name);
  if (before != now) recount_twin(name);
  for (const std::string& tenant : {before, now})
    if (const auto roles = roles_.find(tenant); roles != roles_.end() && !roles->second.empty()) enqueue(tenant);
}

void TwinPodBounds::forget_roles() {
  judged_.forget_unless([this](const std::string& role) {
    return std::ranges::any_of(roles_, [&](const auto& tenant) { return is_named(tenant.first, role); });
  });
}

void TwinPodBounds::recount(const kube::ObjectKey& key) {
  count_.forget(key);
  const std::string tenant = tenant_of(key.ns);
  const auto roles = roles_.find(tenant);
  if (roles == roles_.end() || roles->second.empty()) return;
  enqueue(tenant);
  const auto shadow = shadows_->find(key);
  if (!shadow || api::ShadowPod(*shadow).is_finished()) return;
  const kube::json::object& spec = api::ShadowPod(*shadow).pod_spec();
  auto needs = core::read_pod_needs(spec);
  if (!needs) return;
  core::settle(*needs, surroundings_->of(key.ns, spec));
  count_.add(key, {.user = std::string(shadow->label(labels::creator_user)),
                   .demand = core::pod_demand(*needs, core::Counting::exact),
                   .waiting = !shadow->is_deleting() && !pods_->store().contains(key)});
}

void TwinPodBounds::recount_twin(const std::string& ns) {
  std::set<kube::ObjectKey> keys;
  for (const kube::ObjectKey& key : shadows_->store().keys_in(ns)) keys.insert(key);
  for (kube::ObjectKey& key : count_.pods_in(ns)) keys.insert(std::move(key));
  for (const kube::ObjectKey& key : keys) recount(key);
}

TwinPodBounds::Pass TwinPodBounds::begin(const kube::Object& tenant) {
  Pass pass{.tenant = std::string(tenant.name()), .consumer = std::string(tenant.label(labels::remote_cluster_id))};
  std::vector<kube::Object> quotas;
  for (kube::Object& quota : grants_->objects_in(pass.tenant)) quotas.push_back(std::move(quota));
  pass.granted = core::granted_to_twins(quotas, count_.held());
  std::vector<kube::ObjectKey> keys = namespaces_->store().keys(by_tenant, pass.tenant);
  std::ranges::sort(keys);
  for (const kube::ObjectKey& key : keys) {
    const auto ns = namespaces_->find(key);
    if (!ns || ns->label(labels::remote_cluster_id) != pass.consumer) continue;
    core::TwinPods twin{.twin = key.name, .leaving = ns->is_deleting()};
    if (const auto quota = bounds_->find(quota_of(key.name))) {
      core::read_twin_quota(*quota, twin);
      pass.versions[key.name] = quota->resource_version();
      last_used_[key.name] = twin.used;
    } else if (const auto last = last_used_.find(key.name); twin.leaving && last != last_used_.end()) {
      // The pods of a twin may end after its ResourceQuota is gone.
      twin.exists = true;
      twin.admitted = twin.used = last->second;
    }
    count_.read(twin);
    pass.twins.push_back(std::move(twin));
  }
  return pass;
}

asio::awaitable<Outcome> TwinPodBounds::reconcile(kube::WorkKey work) {
  const auto tenant = namespaces_->find(work.object);
  if (!tenant || !core::is_tenant_namespace(*tenant)) co_return Outcome::done();
  const auto policy = core::read_pod_policy(tenant->annotation(annotations::pod_policy));
  KUBE_CO_TRY(looked, co_await judged_.look_at(policy ? policy->cluster_roles : std::vector<std::string>()),
              "looking at the ClusterRoles of a policy");
  // The policy may have lost a role while it was being read.
  forget_roles();
  Roles roles = std::move(looked);
  Pass pass = begin(*tenant);
  KUBE_CO_TRYV(co_await unbind(pass, roles));
  // A policy that cannot be parsed gives no rights, and leaves running pods bounded.
  if (policy && policy->cluster_roles.empty()) {
    reported_.erase(pass.tenant);
    KUBE_CO_TRYV(co_await remove_bounds(pass));
    co_return Outcome::done();
  }
  if (policy) {
    pass = begin(*tenant);
    KUBE_CO_TRYV(co_await bound_pods(pass, roles.kinds));
    KUBE_CO_TRYV(co_await bind(pass, roles));
  }
  report(*tenant, roles.refusals);
  if (pass.again) co_return Outcome::again_after(changed_pause);
  co_return Outcome::again_after(roles.refusals.empty() && !pass.waits ? look_interval : retry_interval);
}

asio::awaitable<kube::Result<void>> TwinPodBounds::unbind(const Pass& pass, const Roles& roles) {
  kube::Result<void> result;
  for (const core::TwinPods& twin : pass.twins) {
    if (twin.leaving) continue;
    for (const kube::ObjectKey& key : bindings_->store().keys(by_twin, twin.twin)) {
      const auto binding = bindings_->find(key);
      if (!binding || binding->is_deleting()) continue;
      const std::string role(binding->annotation(annotations::tenant_role));
      if (roles.bound.contains(role) &&
          core::is_same_binding(
              *binding,
              core::forge_tenant_role_binding(
                  twin.twin, {.tenant_namespace = pass.tenant, .consumer = pass.consumer, .role = role}, "")) &&
          key.name == core::tenant_role_binding_name(pass.tenant, role))
        continue;
      auto removed = co_await kube::remove_object(
          context_.home.api(), kinds::role_bindings, key,
          {.options = {.uid = std::string(binding->uid())}, .phase = "removing RoleBinding " + key.text()});
      if (!removed && result) result = std::unexpected(std::move(removed.error()));
    }
  }
  co_return result;
}

asio::awaitable<kube::Result<void>> TwinPodBounds::bound_pods(Pass& pass, const std::set<std::string>& kinds) {
  kube::Result<void> result;
  kube::Api& home = context_.home.api();
  const auto writes = core::plan_twin_pods(pass.granted, pass.twins);
  for (const core::TwinPods& twin : pass.twins) {
    if (twin.leaving) continue;
    const auto write = writes.find(twin.twin);
    const core::Resources hard = write == writes.end() ? core::Resources() : write->second;
    const kube::ObjectKey key = quota_of(twin.twin);
    const auto existing = bounds_->find(key);
    const core::TwinPodsQuota wanted{.consumer = pass.consumer, .hard = hard, .kinds = kinds};
    if (!existing && !twin.exists) {
      auto created = co_await home.create(kinds::resource_quotas, core::forge_twin_pods_quota(twin.twin, wanted));
      // A ResourceQuota without our labels, which the cache does not have, gets them.
      if (!created && created.error().is_already_exists()) {
        created = co_await home.get(kinds::resource_quotas, key);
        if (created)
          if (const auto patch = core::plan_twin_pods_quota(
                  *created, {.consumer = pass.consumer, .hard = {}, .kinds = kinds}, pass.granted))
            created = co_await home.patch(kinds::resource_quotas, key,
                                          {kube::PatchType::merge, kube::json::serialize(*patch)});
        pass.again = true;
      }
      if (created)
        bounds_->observe(std::move(*created));
      else if (created.error().is_not_found() || created.error().is_conflict())
        pass.again = true;
      else
        note(result, std::move(created.error()), "creating ResourceQuota " + key.text());
      continue;
    }
    // The plan was made for an earlier state; changes meanwhile are planned again.
    const auto version = pass.versions.find(twin.twin);
    if (!existing || version == pass.versions.end() || existing->resource_version() != version->second) {
      pass.again = true;
      continue;
    }
    const auto patch = core::plan_twin_pods_quota(*existing, wanted, pass.granted, is_recounted(*existing, kinds));
    pass.waits = pass.waits || !core::are_counted(*existing, kinds);
    if (!patch) continue;
    auto patched =
        co_await home.patch(kinds::resource_quotas, key, {kube::PatchType::merge, kube::json::serialize(*patch)});
    if (patched)
      bounds_->observe(std::move(*patched));
    else if (patched.error().is_not_found() || patched.error().is_conflict())
      pass.again = true;
    else
      note(result, std::move(patched.error()), "updating ResourceQuota " + key.text());
  }
  co_return result;
}

bool TwinPodBounds::is_recounted(const kube::Object& quota, const std::set<std::string>& kinds) {
  const std::string twin(quota.ns());
  if (core::are_counted(quota, kinds)) {
    uncounted_.erase(twin);
    return false;
  }
  const kube::TimePoint now = context_.clock.now();
  const auto [known, is_new] = uncounted_.try_emplace(twin, Uncounted{.at = now, .pause = retry_interval});
  Uncounted& waits = known->second;
  if (is_new || now - waits.at < waits.pause) return false;
  // A kind that is never counted is not defined in this cluster: Kubernetes looks by itself every five minutes.
  waits = {.at = now, .pause = std::min<kube::Duration>(2 * waits.pause, 1h)};
  return true;
}

asio::awaitable<kube::Result<void>> TwinPodBounds::remove_bounds(const Pass& pass) {
  kube::Result<void> result;
  for (const core::TwinPods& twin : pass.twins) {
    const kube::ObjectKey key = quota_of(twin.twin);
    const auto quota = bounds_->find(key);
    // The removal of the RoleBinding enqueues the consumer.
    if (!quota || twin.leaving || !bindings_->store().keys(by_twin, twin.twin).empty()) continue;
    auto removed = co_await kube::remove_object(
        context_.home.api(), kinds::resource_quotas, key,
        {.options = {.uid = std::string(quota->uid())}, .phase = "removing ResourceQuota " + key.text()});
    if (!removed && result) result = std::unexpected(std::move(removed.error()));
  }
  co_return result;
}

bool TwinPodBounds::is_named(const std::string& tenant, const std::string& role) const {
  const auto named = roles_.find(tenant);
  return named != roles_.end() && std::ranges::find(named->second, role) != named->second.end();
}

asio::awaitable<kube::Result<void>> TwinPodBounds::bind(const Pass& pass, Roles& roles) {
  kube::Result<void> result;
  kube::Api& home = context_.home.api();
  std::erase_if(refused_,
                [&](const auto& entry) { return context_.clock.now() - entry.second.first >= retry_interval; });
  for (const core::TwinPods& planned : pass.twins) {
    const auto ns = namespaces_->find({"", planned.twin});
    const auto quota = bounds_->find(quota_of(planned.twin));
    if (!ns || ns->is_deleting() || !quota) continue;
    core::TwinPods twin;
    core::read_twin_quota(*quota, twin);
    // A change of its status enqueues the consumer.
    if (!core::is_bounded(twin, pass.granted)) continue;
    for (const std::string& role : roles.bound) {
      // The change of the policy has enqueued the consumer.
      if (!is_named(pass.tenant, role)) continue;
      const kube::Object wanted = core::forge_tenant_role_binding(
          planned.twin, {.tenant_namespace = pass.tenant, .consumer = pass.consumer, .role = role},
          ns->annotation(annotations::managed_by_namespace_map));
      const kube::ObjectKey key = wanted.key();
      // A RoleBinding of ours that differs has been deleted, and its removal enqueues the twin.
      const auto existing = bindings_->find(key);
      if (existing && core::is_tenant_role_binding(*existing)) continue;
      if (const auto known = refused_.find(key); known != refused_.end()) {
        roles.refusals.push_back(known->second.second);
        continue;
      }
      auto created = co_await home.create(kinds::role_bindings, wanted);
      if (created) {
        bindings_->observe(std::move(*created));
        continue;
      }
      std::string why;
      if (created.error().is_already_exists())
        why = "RoleBinding " + key.text() + " exists and was not made by Liqo: remove it.";
      else if (created.error().is_forbidden())
        why = "ClusterRole " + role + " is not bound, because the API server refuses it: " + created.error().text();
      else if (!created.error().is_not_found())
        note(result, std::move(created.error()), "creating RoleBinding " + key.text());
      if (why.empty()) continue;
      roles.refusals.push_back(why);
      refused_[key] = {context_.clock.now(), std::move(why)};
    }
  }
  co_return result;
}

void TwinPodBounds::report(const kube::Object& tenant, const std::vector<std::string>& problems) {
  const std::string text = kube::join(problems, " ");
  if (std::exchange(reported_[std::string(tenant.name())], text) == text || text.empty()) return;
  context_.events.warning(tenant, kube::resources::namespaces, api::reasons::tenant_role_refused,
                          text + " It is tried again every " + std::to_string(retry_interval.count()) + " seconds.");
}

}  // namespace liqo::controllers
