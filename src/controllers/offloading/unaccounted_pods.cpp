#include "controllers/offloading/unaccounted_pods.hpp"

#include <algorithm>

#include "controllers/common/drain_grace.hpp"
#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/offloading/ending.hpp"
#include "core/quota/quota_user.hpp"
#include "kube/async/event.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/tenant.hpp"
#include "quota/quota_users.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// A Quota that was deleted by mistake is recreated within moments.
constexpr kube::Duration grace = 30s;

/// Whether a Pod has lost its owner, and was made for another ShadowPod than the one of its name. A consumer that
/// deletes a ShadowPod with the policy Orphan must not keep its Pod by another ShadowPod of that name. A Pod of an
/// earlier version is known by its owner alone.
bool is_orphan(const kube::Object& pod, const kube::Object* shadow) {
  const std::string_view made_for = pod.label(api::labels::shadow_pod_uid);
  return !pod.is_deleting() && !pod.controller() && (!shadow || made_for.empty() || shadow->uid() != made_for);
}

/// Sets an event at the end of a coroutine, even if that was cancelled.
class SetAtEnd {
 public:
  explicit SetAtEnd(kube::async::Event& event) : event_(event) {}
  SetAtEnd(const SetAtEnd&) = delete;
  SetAtEnd& operator=(const SetAtEnd&) = delete;
  ~SetAtEnd() { event_.set(); }

 private:
  kube::async::Event& event_;
};

}  // namespace

/// A live list of all Quotas, which several pods wait for.
struct UnaccountedPods::Reading {
  Reading(const asio::any_io_executor& executor, std::uint64_t count) : number(count), over(executor) {}
  kube::Result<std::set<std::string>> users =
      kube::fail(kube::Errc::stopped, "whoever read the Quotas was stopped");  ///< those that have one
  std::uint64_t number;                                                        ///< in the order in which they began
  kube::async::Event over;
};

UnaccountedPods::UnaccountedPods(Context context)
    : context_(std::move(context)),
      shadows_(context_.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context_.home.acquire(scope_of_consumer_pods())),
      quotas_(context_.home.acquire({.resource = api::kinds::quotas})),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      namespaces_(context_.home.acquire({.resource = kube::resources::namespaces})),
      controller_(context_, {.name = "unaccounted-pods", .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  quota::index_quotas_by_user(*quotas_);
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  controller_.reads(namespaces_);
  controller_.watch(shadows_);
  controller_.watch(pods_);
  // The first lists of these two change nothing for pods; watch() would enqueue all ShadowPods at the end of each.
  const auto nothing = [] {};
  controller_.watch(
      quotas_,
      [this](const kube::ObjectKey& key) {
        // The used amounts of a Quota change all the time and do not matter here.
        const auto quota = quotas_->find(key);
        const bool drained = quota && api::Quota(*quota).is_drained();
        if (!drained) drained_.erase(key);
        if (!quota || (drained && drained_.insert(key).second)) enqueue_all();
      },
      nothing);
  controller_.watch(
      tenants_,
      [this](const kube::ObjectKey& key) {
        if (!tenants_->store().contains(key)) enqueue_all();
      },
      nothing);
}

void UnaccountedPods::enqueue_all() {
  controller_.enqueue_all(shadows_->store());
  controller_.enqueue_all(pods_->store());
}

asio::awaitable<kube::Result<bool>> UnaccountedPods::has_quota_live(std::string user) {
  // A list that was begun before may have missed a Quota that is there now.
  const std::uint64_t before = readings_;
  std::shared_ptr<Reading> reading;
  while (!reading && reading_ && !reading_->over.is_set()) {
    const std::shared_ptr<Reading> other = reading_;
    co_await other->over.wait();
    if (other->number > before) reading = other;
  }
  if (!reading) reading = co_await read_quotas();
  KUBE_CO_TRY(users, reading->users);
  co_return users.contains(user);
}

asio::awaitable<std::shared_ptr<UnaccountedPods::Reading>> UnaccountedPods::read_quotas() {
  const auto reading = std::make_shared<Reading>(context_.executor, ++readings_);
  const SetAtEnd at_end(reading->over);
  reading_ = reading;
  std::set<std::string> users;
  auto listed = co_await kube::list_all(context_.home.api(), {.resource = api::kinds::quotas, .ns = {}}, {},
                                        [&users](const kube::Object& quota) {
                                          users.insert(core::escape_user(api::Quota(quota).user()));
                                          return true;
                                        });
  if (listed)
    reading->users = std::move(users);
  else
    reading->users = std::unexpected(std::move(listed.error()));
  co_return reading;
}

asio::awaitable<Outcome> UnaccountedPods::end_orphan(kube::ObjectKey key) {
  const auto pod = pods_->find(key);
  // The garbage collector removes a Pod that has an owner.
  if (!pod || pod->controller()) co_return Outcome::done();
  KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), api::kinds::shadow_pods, key),
              "reading the ShadowPod");
  if (!is_orphan(*pod, live ? &*live : nullptr)) co_return Outcome::done();
  KUBE_CO_TRY(removed, co_await kube::remove_object(
                           context_.home.api(), kube::resources::pods, key,
                           {.options = {.uid = std::string(pod->uid())}, .phase = "removing a Pod without ShadowPod"}));
  if (removed) log_.info("removed a Pod that its ShadowPod has left behind", {{"pod", key}});
  co_return Outcome::done();
}

asio::awaitable<Outcome> UnaccountedPods::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto shadow = shadows_->find(key);
  const auto pod = pods_->find(key);
  const bool is_left = !shadow && pod && !pod->is_deleting();
  if (is_left || (pod && is_orphan(*pod, shadow ? &*shadow : nullptr))) {
    noticed_.erase(key);
    co_return co_await end_orphan(key);
  }
  // A ShadowPod that our webhook did not admit names no user, and is not counted.
  const std::string user(shadow ? shadow->label(api::labels::creator_user)
                         : pod  ? pod->label(api::labels::creator_user)
                                : std::string_view());
  const std::vector<kube::ObjectKey> counting = quotas_->store().keys(quota::quotas_by_user, user);
  if (user.empty() || !counting.empty()) {
    noticed_.erase(key);
    if (user.empty() || !is_drained(counting)) co_return Outcome::done();
    co_return co_await end(key, user, {"SliceDrained", "the provider has drained its ResourceSlice"});
  }
  if (!context_.settings.offloading.enforce_resources) {
    if (!pod || !pod->is_deleting() || !is_abandoned(key.ns)) co_return Outcome::done();
    KUBE_CO_TRYV(co_await hurry(*pod));
    co_return Outcome::done();
  }
  Notice& notice = noticed_[key];
  const std::string_view uid = shadow ? shadow->uid() : pod->uid();
  if (notice.uid != uid) notice = {std::string(uid), context_.clock.now()};
  const kube::Duration waited = context_.clock.now() - notice.since;
  if (waited < grace) co_return Outcome::again_after(grace - waited);
  KUBE_CO_TRY(counted, co_await has_quota_live(user), "reading the Quotas");
  if (counted) co_return Outcome::again_after(grace);
  co_return co_await end(
      key, user, {"GrantWithdrawn", "its user " + user + " has no Quota any more, because the ResourceSlice is gone"});
}

bool UnaccountedPods::is_drained(const std::vector<kube::ObjectKey>& quotas) const {
  return std::ranges::all_of(quotas, [this](const kube::ObjectKey& key) {
    const auto quota = quotas_->find(key);
    return quota && api::Quota(*quota).is_drained();
  });
}

bool UnaccountedPods::is_abandoned(const std::string& twin) const {
  const auto ns = namespaces_->find({"", twin});
  const std::string_view consumer = ns ? core::consumer_of_twin(*ns) : std::string_view();
  return !consumer.empty() && std::ranges::none_of(tenants_->objects(), [consumer](const kube::Object& tenant) {
    return api::Tenant(tenant).cluster_id() == consumer;
  });
}

asio::awaitable<Outcome> UnaccountedPods::end(kube::ObjectKey key, std::string user, End because) {
  if (const auto shadow = shadows_->find(key); shadow && !shadow->is_deleting()) {
    context_.events.warning(*shadow, api::kinds::shadow_pods, because.reason,
                            "ShadowPod " + key.text() + " is ended: " + because.why);
    KUBE_CO_TRYV(
        co_await kube::remove_object(context_.home.api(), api::kinds::shadow_pods, key,
                                     {.options = {.uid = std::string(shadow->uid())}, .phase = "ending a ShadowPod"}));
  }
  const auto pod = pods_->find(key);
  if (!pod || pod->label(api::labels::creator_user) != user) co_return Outcome::done();
  KUBE_CO_TRYV(co_await hurry(*pod));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> UnaccountedPods::hurry(kube::Object pod) {
  const std::int64_t max_grace = drain_grace(namespaces_->store(), pod.ns());
  if (!core::ends_later(pod, max_grace)) co_return kube::Result<void>();
  KUBE_CO_TRYV(
      co_await kube::remove_object(context_.home.api(), kube::resources::pods, pod.key(),
                                   {.options = {.uid = std::string(pod.uid()), .grace_period_seconds = max_grace},
                                    .phase = "ending a Pod whose grant is gone"}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
