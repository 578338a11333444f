#include "controllers/slices/slice_grant.hpp"

#include <algorithm>

#include "controllers/slices/slice_tenant.hpp"
#include "core/common/late_requests.hpp"
#include "core/common/peer_names.hpp"
#include "core/offloading/order.hpp"
#include "core/policy/pod_policy.hpp"
#include "core/slices/provider_words.hpp"
#include "core/slices/status.hpp"
#include "kube/base/text.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace action = core::grant_action;
namespace json = kube::json;
namespace conditions = api::slice_conditions;

/// The reason of the Event about a setting that cannot be read, or is not followed.
constexpr std::string_view setting_not_taken = "SettingNotTaken";
/// Changes of nodes and pods come in bursts.
constexpr kube::Duration share_pause = 200ms;
constexpr kube::Duration stale_quota_pause = 5s;
/// The pause before a slice looks again for its platform while the list of nodes is incomplete; the completion of that
/// list enqueues it sooner.
constexpr kube::Duration kind_pause = 1s;
/// The usage of pods changes all the time: slices that wait for room are looked at so long after a change.
constexpr kube::Duration use_pause = 500ms;
/// The figures of a refusal are written again after this time at the earliest.
constexpr kube::Duration refusal_pause = 30s;
/// If a slice waits for longer than the first time because it is not known what the others hold, that is reported, and
/// again after the second one.
constexpr kube::Duration wait_patience = 5s, wait_pause = 5min;

std::string listed(const core::Resources& resources) {
  if (resources.empty()) return "nothing";
  return kube::join(
      resources | std::views::transform([](const auto& each) { return each.first + " " + each.second.text(); }), ", ");
}

bool is_ours(std::string_view reason) {
  return reason == core::slice_reasons::tenant_drained || reason == core::slice_reasons::tenant_cordoned;
}

}  // namespace

SliceGrantController::SliceGrantController(TenantNamespaces& namespaces, HomeNames& names, Context context,
                                           quota::QuotaLedger* ledger)
    : context_(std::move(context)),
      namespaces_(namespaces),
      names_(names),
      slices_(context_.home.acquire({.resource = api::kinds::resource_slices})),
      tenants_(context_.home.acquire({.resource = api::kinds::tenants})),
      quotas_(context_.home.acquire({.resource = api::kinds::quotas})),
      config_(context_.home.acquire({.resource = kube::resources::config_maps,
                                     .ns = context_.settings.liqo_namespace,
                                     .selection = {.field_selector = kube::name_is(core::policy_config_map)}})),
      policy_{context_.settings.slices},
      capacity_(context_,
                [this] {
                  for (const kube::ObjectKey& key : share_slices_)
                    controller_.enqueue_after({key.ns, key}, share_pause);
                }),
      platforms_(context_,
                 [this] {
                   for (const kube::ObjectKey& key : incoming_) enqueue(key);
                 }),
      ledger_(ledger),
      controller_(context_, {.name = "resourceslice_quotacreator"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto all = [this] { controller_.enqueue_all(slices_->store()); };
  controller_.follow(slices_, [this](const kube::Change& slice) { see_slice(slice); });
  controller_.follow(tenants_, [this](const kube::Change& tenant) { see_tenant(tenant); });
  controller_.watch(
      quotas_,
      [this](const kube::ObjectKey& key) {
        // A Quota is called <slice>-<digits of the consumer>.
        const std::size_t end = key.name.rfind('-');
        if (end == std::string::npos) return;
        const kube::ObjectKey slice{key.ns, key.name.substr(0, end)};
        if (slices_->store().contains(slice)) enqueue(slice);
        see_less(key.ns);
      },
      all);
  controller_.watch(config_, [this](const kube::ObjectKey&) { read_policy(); }, [this] { read_policy(); });
  namespaces_.watched_by(controller_, slices_);
  names.subscribe([this] {
    for (const kube::ObjectKey& key : incoming_) enqueue(key);
  });
  if (ledger_) usage_reader_ = ledger_->on_usage_change([this] { see_use(); });
  read_policy();
}

SliceGrantController::~SliceGrantController() {
  if (usage_reader_) ledger_->forget(*usage_reader_);
}

void SliceGrantController::read_policy() {
  const auto map = config_->find({context_.settings.liqo_namespace, std::string(core::policy_config_map)});
  core::PolicyReading reading =
      core::read_policy(context_.settings.slices, map ? &*map : nullptr, has_policy_ ? &policy_ : nullptr);
  has_policy_ = config_->has_synced();
  for (const std::string& mistake : reading.mistakes) {
    log_.warn("a setting is not taken", {{"configmap", core::policy_config_map}, {"error", mistake}});
    context_.events.warning(*map, kube::resources::config_maps, setting_not_taken, mistake);
  }
  policy_ = std::move(reading.policy);
  if (policy_.storage_enabled && !storage_classes_) {
    storage_classes_ = context_.home.acquire({.resource = api::kinds::storage_classes});
    const auto all = [this] {
      report_missing_class();
      controller_.enqueue_all(slices_->store());
    };
    controller_.watch(storage_classes_, [all](const kube::ObjectKey&) { all(); }, all);
  }
  report_missing_class();
  controller_.enqueue_all(slices_->store());
}

void SliceGrantController::report_missing_class() {
  const std::string& name = policy_.storage_class;
  if (!policy_.storage_enabled || name.empty() || !storage_classes_->has_synced() || storage_classes_->find({"", name}))
    return;
  if (const auto map = config_->find({context_.settings.liqo_namespace, std::string(core::policy_config_map)}))
    context_.events.warning(*map, kube::resources::config_maps, "StorageClassMissing",
                            std::string(core::policy_settings::storage_class_name) + ": there is no StorageClass " +
                                name + ", so consumers are offered no class by default, and claims of Liqo's class " +
                                "get no volume here: create it, or name another one (value " +
                                "storage.realStorageClassName)");
}

void SliceGrantController::see_tenant(const kube::Change& change) {
  controller_.enqueue_all(slices_->store(), change.key.ns);
  kube::Result<std::optional<int>> own;
  if (change.now) own = core::read_tenant_percentage(*change.now);
  if (own && !*own) {
    percentages_.erase(change.key);
  } else if (own) {
    percentages_.insert_or_assign(change.key, **own);
  } else {
    // The last readable value stays in force; without one, nothing is known.
    const auto known = percentages_.try_emplace(change.key, std::unexpected(own.error())).first;
    std::string sentence = own.error().text();
    sentence += known->second ? "; what it said before holds on"
                              : "; no slice of class share is granted anything new until it is corrected";
    log_.warn("a setting is not taken", {{"tenant", change.key}, {"error", sentence}});
    context_.events.warning(*change.now, api::kinds::tenants, setting_not_taken, sentence);
  }
}

void SliceGrantController::see_slice(const kube::Change& change) {
  const kube::ObjectKey& key = change.key;
  const kube::Object* slice = change.now;
  const bool comes_in = slice && !slice->is_deleting() && api::ResourceSlice(*slice).is_replica();
  if (comes_in)
    incoming_.insert(key);
  else
    incoming_.erase(key);
  const bool shares = comes_in && api::ResourceSlice(*slice).slice_class() == core::share_class;
  const bool more = shares ? share_slices_.insert(key).second : share_slices_.erase(key) > 0;
  // Done in any case, because a slice that is gone is not among those of its namespace any more.
  enqueue(key);
  // One slice more or less of a consumer changes the share of each of them.
  if (more) controller_.enqueue_all(slices_->store(), key.ns);
  if (!comes_in) see_less(key.ns);
}

void SliceGrantController::see_less(std::string_view ns) {
  for (const kube::ObjectKey& key : short_)
    if (ns.empty() || key.ns == ns) controller_.enqueue_after({key.ns, key}, use_pause);
}

void SliceGrantController::see_use() {
  const kube::TimePoint now = context_.clock.now();
  if (short_.empty() || now < use_seen_until_) return;
  use_seen_until_ = now + use_pause;
  see_less({});
}

int SliceGrantController::share_slices_of(std::string_view ns) const {
  return static_cast<int>(
      std::ranges::count_if(share_slices_, [ns](const kube::ObjectKey& key) { return key.ns == ns; }));
}

json::array SliceGrantController::storage_classes() {
  if (!policy_.storage_enabled || !storage_classes_) return {};
  std::vector<kube::Object> classes;
  for (kube::Object& found : storage_classes_->objects()) classes.push_back(std::move(found));
  return core::offered_storage_classes(classes, policy_);
}

core::GrantPlan SliceGrantController::plan_grant(const Snapshot& snapshot, const kube::Object& tenant) const {
  const kube::Object& slice = snapshot.slice;
  const auto memory = memory_.find(slice.key());
  const core::SliceRequest request = core::read_slice_request(slice);
  std::optional<core::Resources> free;
  if (request.slice_class == core::share_class && capacity_.is_known()) free = capacity_.free_for(snapshot.peer);
  const auto shown = api::ResourceSlice(slice).condition(conditions::resources);
  core::GrantLimits limits = snapshot.limits;
  int percentage = policy_.sharing_percentage;
  if (const auto own = percentages_.find(tenant.key()); own != percentages_.end()) {
    if (own->second)
      percentage = *own->second;
    else if (request.slice_class == core::share_class)
      limits.mistake = "the provider's share for this cluster cannot be read (" + own->second.error().text() +
                       "): " + std::string(core::slice_advice::to_correct) + "it";
  }
  return core::plan_grant({.request = request,
                           .policy = policy_,
                           .tenant = api::Tenant(tenant).condition(),
                           .slice_cordoned = core::is_cordoned(slice),
                           .slice_drained = core::is_drained(slice),
                           .answered = shown && !is_ours(shown->reason),
                           .sharing_percentage = percentage,
                           .share_slices = share_slices_of(slice.ns()),
                           .record = snapshot.before ? &*snapshot.before : nullptr,
                           .free = free ? &*free : nullptr,
                           .limits = std::move(limits),
                           .pending = memory == memory_.end() ? std::nullopt : memory->second.pending,
                           .now = context_.clock.now()});
}

void SliceGrantController::remember(const Snapshot& snapshot) {
  const kube::ObjectKey key = snapshot.slice.key();
  Memory& memory = memory_[key];
  memory.waits_since.reset();
  memory.record = snapshot.before;
  const auto* accept = std::get_if<action::Accept>(&snapshot.plan);
  // Until the Quota is written, it may still be what was decided before.
  if (accept)
    core::raise(memory.granting, accept->record.granted);
  else if (context_.clock.now() >= memory.in_doubt_until)
    set_granting(key, snapshot.before ? snapshot.before->granted : core::Resources());
  if (!snapshot.is_judged) return;
  memory.pending = accept ? accept->pending : std::nullopt;
  const bool is_share = api::ResourceSlice(snapshot.slice).slice_class() == core::share_class;
  const bool may_get_more =
      !snapshot.limits.consumer.empty() && (accept ? is_share : std::holds_alternative<action::Deny>(snapshot.plan));
  if (may_get_more)
    short_.insert(key);
  else
    short_.erase(key);
}

void SliceGrantController::set_granting(const kube::ObjectKey& slice, core::Resources granting) {
  core::Resources& counted = memory_[slice].granting;
  const bool is_less = std::ranges::any_of(
      counted, [&](const auto& entry) { return core::amount(granting, entry.first) < entry.second; });
  counted = std::move(granting);
  if (is_less) see_less(slice.ns);
}

void SliceGrantController::leave_in_doubt(const kube::ObjectKey& slice) {
  const kube::TimePoint until = context_.clock.now() + core::late_after;
  if (const auto memory = memory_.find(slice); memory != memory_.end()) memory->second.in_doubt_until = until;
  context_.leadership.leave_doubt(until);
}

Outcome SliceGrantController::after_doubt(const kube::ObjectKey& slice, Outcome end) const {
  // Nothing else looks then, and resources that are counted in vain would be withheld from the others.
  const auto memory = memory_.find(slice);
  if (end.failure() || memory == memory_.end()) return end;
  const kube::Duration left = memory->second.in_doubt_until - context_.clock.now();
  return left > 0ms && (!end.delay() || left < *end.delay()) ? Outcome::again_after(left) : end;
}

core::GrantLimits SliceGrantController::limits_of(const kube::ObjectKey& slice) const {
  const auto policy = core::read_pod_policy(namespaces_.annotation(slice.ns, api::annotations::pod_policy));
  if (!policy)
    return {.slice = {},
            .consumer = {},
            .others = {},
            .mistake = "the provider's policy for this cluster cannot be understood (" + policy.error().text() +
                       "): " + std::string(core::slice_advice::to_correct) + "it"};
  core::GrantLimits limits{.slice = policy->max_slice, .consumer = policy->max_resources, .others = {}, .mistake = {}};
  if (limits.consumer.empty()) return limits;
  for (auto& [user, hold] : holds_beside(slice, namespaces_.peer_of(slice.ns))) core::take(limits, std::move(hold));
  return limits;
}

std::map<std::string, core::SliceHold> SliceGrantController::holds_beside(const kube::ObjectKey& slice,
                                                                          const std::string& peer) const {
  std::map<std::string, core::SliceHold> holds;
  const auto hold_of = [&](const std::string& user) -> core::SliceHold& {
    core::SliceHold& hold = holds[user];
    if (hold.name.empty()) hold.name = user;
    return hold;
  };
  if (ledger_)
    for (auto& [user, held] : ledger_->held_by(peer, slice.ns)) hold_of(user).held = std::move(held);
  for (const kube::Object& quota : quotas_->objects_in(slice.ns)) {
    core::SliceHold& hold = hold_of(std::string(quota.name()));
    hold.is_quota = true;
    if (auto read = core::read_resources(api::Quota(quota).resources())) hold.granted = std::move(*read);
  }
  for (const kube::ObjectKey& key : slices_->store().keys_in(slice.ns))
    if (const auto hold = holds.find(core::slice_user(key.name, peer)); hold != holds.end())
      hold->second.name = key.name;
  // Two slices that are decided at the same time know of each other, and the write of one that is gone may come late.
  for (const auto& [key, decided] : memory_) {
    if (key.ns != slice.ns || decided.granting.empty()) continue;
    core::SliceHold& hold = hold_of(core::slice_user(key.name, peer));
    hold.name = key.name;
    hold.is_quota = true;
    core::raise(hold.granted, decided.granting);
  }
  holds.erase(core::slice_user(slice.name, peer));
  return holds;
}

bool SliceGrantController::adds_to_bound(const Snapshot& snapshot) {
  const auto* accept = std::get_if<action::Accept>(&snapshot.plan);
  return accept && snapshot.is_judged && std::ranges::any_of(snapshot.limits.consumer, [&](const auto& bound) {
           const auto granted = accept->record.granted.find(bound.first);
           if (granted == accept->record.granted.end()) return false;
           return !snapshot.before || !snapshot.before->granted.contains(bound.first) ||
                  core::amount(snapshot.before->granted, bound.first) < granted->second;
         });
}

std::optional<core::SliceRecord> SliceGrantController::foreign_record(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  if (!view.is_accepted(conditions::resources)) return std::nullopt;
  auto granted = core::read_resources(view.granted());
  if (!granted) {
    context_.events.warning(slice, api::kinds::resource_slices, "InvalidGrant",
                            "status.resources, as the controller of class " + std::string(view.slice_class()) +
                                " has set it, cannot be enforced: " + granted.error().text());
    return std::nullopt;
  }
  return core::SliceRecord{
      .slice_class = std::string(view.slice_class()), .request = {}, .granted = std::move(*granted)};
}

asio::awaitable<Outcome> SliceGrantController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  capacity_.set_watching(!share_slices_.empty());
  platforms_.set_watching(!incoming_.empty());
  Outcome end = Outcome::done();
  auto snapshot = co_await look_at(key, end);
  const kube::TimePoint since = context_.clock.now();
  // What the other slices hold has to be certain before this one is granted more beside them.
  if (const kube::Duration left = context_.leadership.inherited_doubt_until() - since;
      snapshot && left > 0ms && adds_to_bound(*snapshot)) {
    report_waiting(*snapshot, since,
                   kube::Failure(kube::Errc::timeout,
                                 "what liqod's last leader has granted may still be on its way to the "
                                 "API server (this takes 75 s at most)"));
    co_return Outcome::again_after(std::min(left, wait_patience));
  }
  if (snapshot && ledger_ && adds_to_bound(*snapshot)) {
    // A failure is retried after growing pauses, and an Outcome without a failure would make them short again.
    const auto known = memory_.find(key);
    const bool has_failed = known != memory_.end() && known->second.waits_since;
    if (const kube::Duration left = ledger_->settles_in(key.ns); left > 0ms && !has_failed)
      co_return Outcome::again_after(left);
    auto settled = co_await ledger_->settle(key.ns);
    if (!settled) {
      report_waiting(*snapshot, since, settled.error());
      co_return Outcome::retry(std::move(settled.error()).in("reading what the other slices hold"));
    }
    snapshot = co_await look_at(key, end);
  }
  if (!snapshot) co_return end;
  remember(*snapshot);
  Outcome carried_out = co_await carry_out(std::move(*snapshot));
  co_return after_doubt(key, std::move(carried_out));
}

asio::awaitable<std::optional<SliceGrantController::Snapshot>> SliceGrantController::look_at(kube::ObjectKey key,
                                                                                             Outcome& end) {
  auto found = slices_->find(key);
  if (!found || found->is_deleting()) {
    short_.erase(key);
    end = forget(key);
    co_return std::nullopt;
  }
  Snapshot snapshot{.slice = std::move(*found), .peer = namespaces_.peer_of(key.ns)};
  if (snapshot.peer.empty()) co_return std::nullopt;
  Memory& memory = memory_[key];
  if (memory.uid != snapshot.slice.uid()) {
    const bool in_doubt = context_.clock.now() < memory.in_doubt_until;
    memory = Memory{.uid = std::string(snapshot.slice.uid()),
                    .pending = {},
                    .granting = in_doubt ? std::move(memory.granting) : core::Resources(),
                    .in_doubt_until = memory.in_doubt_until};
  }

  const bool is_replica = api::ResourceSlice(snapshot.slice).is_replica();
  snapshot.quota = quotas_->find({key.ns, core::slice_user(key.name, snapshot.peer)});
  if (snapshot.quota && core::is_quota_of_another(*snapshot.quota, snapshot.slice)) {
    if (!is_replica) co_return std::nullopt;
    auto removed = co_await remove_stale(snapshot.slice, *snapshot.quota);
    if (!removed || !*removed) {
      end = removed ? Outcome::again_after(stale_quota_pause) : Outcome::retry(std::move(removed.error()));
      co_return std::nullopt;
    }
    snapshot.quota.reset();
  }
  // A slice with a Quota stays ours even if its consumer removes the labels of replication.
  const bool was_granted = snapshot.quota && snapshot.quota->controller();
  if (!is_replica && !was_granted) {
    short_.erase(key);
    end = forget(key);
    co_return std::nullopt;
  }
  decide(snapshot);
  co_return snapshot;
}

Outcome SliceGrantController::forget(const kube::ObjectKey& key) {
  const auto gone = memory_.find(key);
  if (gone == memory_.end()) return Outcome::done();
  // Grants that may still be stored count until then.
  const kube::Duration left = gone->second.in_doubt_until - context_.clock.now();
  if (left > 0ms && !gone->second.granting.empty()) return Outcome::again_after(left);
  // The garbage collector deletes its Quota.
  if (!gone->second.granting.empty()) log_.info("slice gone, and what it was granted with it", {{"slice", key}});
  memory_.erase(gone);
  see_less(key.ns);
  return Outcome::done();
}

asio::awaitable<Outcome> SliceGrantController::carry_out(Snapshot snapshot) {
  const kube::ObjectKey key = snapshot.slice.key();
  if (snapshot.warning)
    context_.events.warning(snapshot.slice, api::kinds::resource_slices, snapshot.warning->reason,
                            snapshot.warning->message);
  const auto* accept = std::get_if<action::Accept>(&snapshot.plan);
  if (std::holds_alternative<action::Foreign>(snapshot.plan)) {
    if (auto back = core::plan_slice_restore(snapshot.slice, snapshot.before.has_value(), context_.clock.wall())) {
      KUBE_CO_TRYV(co_await write_status(snapshot.slice, std::move(*back)));
      co_return Outcome::done();
    }
    snapshot.wish.record = foreign_record(snapshot.slice);
    if (const std::string mistake = policy_.mistake(); snapshot.wish.record && !snapshot.quota && !mistake.empty()) {
      context_.events.warning(snapshot.slice, api::kinds::resource_slices, setting_not_taken,
                              core::in_provider_words(mistake, snapshot.peer));
      co_return Outcome::done();
    }
  } else if (accept) {
    snapshot.wish.record = accept->record;
  } else if (!snapshot.quota) {
    // Whatever becomes of the request, the grant stays, even if the Quota was deleted.
    snapshot.wish.record = snapshot.before;
  }
  bool is_certain = false;
  if (snapshot.quota || snapshot.wish.record) {
    kube::Result<bool> written;
    try {
      written = co_await write_quota(snapshot.slice, std::move(snapshot.quota), std::move(snapshot.wish));
    } catch (...) {
      // This was cancelled, and the request may be under way.
      leave_in_doubt(key);
      throw;
    }
    if (!written) {
      if (core::may_be_carried_out(written.error())) leave_in_doubt(key);
      co_return Outcome::retry(std::move(written.error()));
    }
    const auto memory = memory_.find(key);
    // A write that was sent before this one is refused while the Quota stays: it is of an older version.
    is_certain = memory != memory_.end() && (*written || context_.clock.now() >= memory->second.in_doubt_until);
  }
  if (accept && is_certain) set_granting(key, accept->record.granted);
  // A node that is shown as another kind of machine for a moment attracts the wrong pods.
  if (accept && platforms_.is_coming()) co_return Outcome::again_after(kind_pause);
  co_return co_await answer(snapshot);
}

void SliceGrantController::decide(Snapshot& snapshot) const {
  const kube::Object& slice = snapshot.slice;
  const std::string_view consumer = api::ResourceSlice(slice).consumer();
  snapshot.wish = {.user = core::slice_user(slice.name(), snapshot.peer), .enforcement = policy_.limits_enforcement};
  const auto known = memory_.find(slice.key());
  if (snapshot.quota)
    snapshot.before = core::read_slice_record(*snapshot.quota, slice.uid());
  else if (known != memory_.end())
    snapshot.before = known->second.record;
  if (snapshot.quota && !policy_.is_known(core::policy_settings::enforcement))
    snapshot.wish.enforcement = api::Quota(*snapshot.quota).enforcement();
  const auto tenant = tenant_of(tenants_->store(), std::string(slice.ns()), snapshot.peer);
  if (!tenant) {
    // A consumer without a Tenant gets nothing new; the Tenant's return enqueues every slice.
    snapshot.plan = action::Keep{};
    snapshot.wish.cordoned = true;
    if (snapshot.quota || consumer == snapshot.peer)
      snapshot.warning = {
          .reason = "TenantNotFound",
          .message = "there is no Tenant for cluster " + snapshot.peer + " in this namespace: create it first"};
    return;
  }
  const api::TenantCondition state = api::Tenant(*tenant).condition();
  const bool keeps_pods = state == api::TenantCondition::drained && api::Tenant(*tenant).keeps_pods();
  snapshot.wish.drained = core::is_drained(slice) || (state == api::TenantCondition::drained && !keeps_pods);
  snapshot.wish.cordoned = state != api::TenantCondition::active || snapshot.wish.drained || core::is_cordoned(slice);
  if (consumer == snapshot.peer) {
    snapshot.limits = limits_of(slice.key());
    snapshot.plan = plan_grant(snapshot, *tenant);
    snapshot.is_judged = true;
    return;
  }
  snapshot.plan = action::Keep{};
  if (!consumer.empty())
    snapshot.warning = {.reason = "WrongConsumer",
                        .message = "spec.consumerClusterID is not " + snapshot.peer +
                                   ", whose tenant namespace this is: the request is not looked at"};
}

asio::awaitable<Outcome> SliceGrantController::answer(const Snapshot& snapshot) {
  const kube::ObjectKey key = snapshot.slice.key();
  const bool custom = !core::is_built_in_class(api::ResourceSlice(snapshot.slice).slice_class());
  Memory& memory = memory_[key];
  const bool is_reported = custom && memory.drain_reported;
  const bool is_denied = std::holds_alternative<action::Deny>(snapshot.plan);
  memory.drain_reported = is_denied;
  if (const kube::Duration wait = quiet_time(snapshot); wait > 0ms) co_return Outcome::again_after(wait);
  if (!is_reported || !is_denied) {
    const json::array classes = storage_classes();
    const core::SliceOffer offer{.policy = policy_,
                                 .storage_classes = classes,
                                 .platform = platforms_.common(),
                                 .home_names = names_.are_on_for(snapshot.peer)};
    if (auto patch = core::plan_slice_status(snapshot.slice, snapshot.plan, offer, context_.clock.wall())) {
      auto written = co_await write_status(snapshot.slice, std::move(*patch));
      if (!written) {
        memory_[key].drain_reported = false;
        co_return Outcome::retry(std::move(written.error()));
      }
      if (const auto known = memory_.find(key); is_denied && known != memory_.end()) {
        known->second.refused_at = context_.clock.now();
        known->second.refused = snapshot.slice.generation();
      }
      report(snapshot);
    }
  }
  if (const auto* accept = std::get_if<action::Accept>(&snapshot.plan); accept && accept->again_after > 0ms)
    co_return Outcome::again_after(accept->again_after);
  co_return Outcome::done();
}

kube::Duration SliceGrantController::quiet_time(const Snapshot& snapshot) const {
  const auto* deny = std::get_if<action::Deny>(&snapshot.plan);
  const auto shown = api::ResourceSlice(snapshot.slice).condition(conditions::resources);
  const auto memory = memory_.find(snapshot.slice.key());
  if (!deny || snapshot.limits.consumer.empty() || !shown || shown->status != conditions::denied ||
      shown->reason != deny->reason || memory == memory_.end() || memory->second.refused != snapshot.slice.generation())
    return 0ms;
  return memory->second.refused_at + refusal_pause - context_.clock.now();
}

void SliceGrantController::report_waiting(const Snapshot& snapshot, kube::TimePoint since, const kube::Failure& why) {
  const auto known = memory_.find(snapshot.slice.key());
  if (known == memory_.end()) return;
  Memory& memory = known->second;
  const kube::TimePoint now = context_.clock.now();
  if (!memory.waits_since) memory.waits_since = since;
  if (now - *memory.waits_since < wait_patience ||
      (memory.wait_reported_at && now - *memory.wait_reported_at < wait_pause))
    return;
  memory.wait_reported_at = now;
  context_.events.warning(snapshot.slice, api::kinds::resource_slices, "GrantWaits",
                          "the slice is granted nothing more until it is known what the other slices of cluster " +
                              snapshot.peer + " hold: " + why.text());
}

void SliceGrantController::report(const Snapshot& snapshot) {
  const kube::ObjectKey key = snapshot.slice.key();
  if (const auto* deny = std::get_if<action::Deny>(&snapshot.plan)) {
    const std::string words = core::in_provider_words(deny->message, snapshot.peer);
    context_.events.warning(snapshot.slice, api::kinds::resource_slices, deny->reason, words);
    log_.info("slice denied", {{"slice", key}, {"reason", words}});
  } else if (const auto* accept = std::get_if<action::Accept>(&snapshot.plan)) {
    const std::string granted = listed(accept->record.granted);
    const std::string before = snapshot.before ? listed(snapshot.before->granted) : "nothing";
    const bool is_cordoned = accept->reason == core::slice_reasons::cordoned;
    context_.events.normal(
        snapshot.slice, api::kinds::resource_slices, accept->reason,
        is_cordoned ? core::in_provider_words(accept->message, snapshot.peer) : "granted: " + granted);
    if (granted != before) log_.info("slice granted", {{"slice", key}, {"granted", granted}, {"before", before}});
  }
}

asio::awaitable<kube::Result<bool>> SliceGrantController::remove_stale(kube::Object slice, kube::Object quota) {
  const auto owner = quota.controller();
  if (!owner || owner->kind != api::kinds::resource_slices.kind || owner->name != slice.name()) {
    context_.events.warning(
        slice, api::kinds::resource_slices, "QuotaExists",
        "the Quota " + std::string(quota.name()) + " belongs to something else: delete it, and the slice gets its own");
    co_return false;
  }
  KUBE_CO_TRY(removed, co_await kube::remove_object(context_.home.api(), api::kinds::quotas, quota.key(),
                                                    {.options = {.uid = std::string(quota.uid())},
                                                     .phase = "removing the Quota of an earlier slice of this name"}));
  quotas_->observe_gone(quota.key(), quota.uid());
  if (removed) log_.info("quota removed: it was of an earlier slice", {{"quota", quota.key()}, {"slice", slice.key()}});
  co_return true;
}

asio::awaitable<kube::Result<bool>> SliceGrantController::write_quota(kube::Object slice,
                                                                      std::optional<kube::Object> quota,
                                                                      core::QuotaWish wish) {
  kube::Api& home = context_.home.api();
  if (!quota) {
    auto created = co_await home.create(api::kinds::quotas, core::forge_quota(slice, wish));
    if (created) {
      log_.info("quota made", {{"quota", created->key()}, {"slice", slice.key()}});
      quotas_->observe(std::move(*created));
      co_return true;
    }
    if (!created.error().is_already_exists()) co_return kube::fail(std::move(created.error()), "creating the Quota");
    // The Quota is not in the cache yet: the next look finds out who owns it.
    KUBE_CO_TRY(live, co_await home.get(api::kinds::quotas, {std::string(slice.ns()), wish.user}), "reading the Quota");
    quotas_->observe(std::move(live));
    co_return kube::fail(kube::Errc::api, "the Quota was made by somebody else a moment ago");
  }
  auto patch = core::plan_quota_update(*quota, slice, wish);
  if (!patch) co_return false;
  KUBE_CO_TRY(patched,
              co_await home.patch(api::kinds::quotas, quota->key(), {kube::PatchType::merge, json::serialize(*patch)}),
              "updating the Quota");
  const api::Quota changed(patched);
  log_.info("quota changed", {{"quota", patched.key()},
                              {"granted", json::serialize(changed.resources())},
                              {"cordoned", changed.is_cordoned() ? "true" : "false"},
                              {"drained", changed.is_drained() ? "true" : "false"}});
  quotas_->observe(std::move(patched));
  co_return true;
}

asio::awaitable<kube::Result<void>> SliceGrantController::write_status(kube::Object slice, json::object patch) {
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *slices_, slice.key(),
      {.body = json::serialize(patch), .phase = "answering the ResourceSlice", .options = {.subresource = "status"}}));
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
