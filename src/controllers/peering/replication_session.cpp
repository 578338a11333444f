#include "controllers/peering/replication_session.hpp"

#include <algorithm>

#include "controllers/common/shared_history.hpp"
#include "controllers/links/provider_api.hpp"
#include "controllers/peering/replica_scope.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::replication_action;
using kube::Outcome;

/// The longest pause between two tries. When a drained tenant is activated, replication goes on after this time at the
/// latest.
constexpr kube::Duration max_pause = 20s;
constexpr kube::Duration refusal_pause = 5s;
/// The pause between two looks for changes without an event: the end of another owner's object, or of a refusal to let
/// us read.
constexpr kube::Duration look_again = 30s;
constexpr kube::Duration unknown_pause = 10s;
/// The pause between two rounds of looks at twins that home does not want: while some have not been looked at, and
/// later.
constexpr kube::Duration next_looks = 100ms, next_looks_again = 5s;
/// The pause between two Events about an object of which the provider has more than is accepted.
constexpr kube::Duration refusal_reported_again = 5min;

/// What an object cannot do because of a failure; the name of the provider follows.
constexpr std::string_view not_replicated = "is not replicated to",
                           no_status = "does not show the status that it has in";

bool same(const std::optional<kube::Object>& before, const std::optional<kube::Object>& now) {
  if (!before || !now) return !before && !now;
  return before->uid() == now->uid() && before->resource_version() == now->resource_version();
}

std::string name_of(const kube::Resource& kind, const kube::Object& object) {
  return std::string(kind.kind) + " " + std::string(object.name());
}

bool are_all_seen(const std::vector<core::KeptTwin>& kept) {
  return std::ranges::none_of(kept, [](const core::KeptTwin& twin) { return twin.why.empty(); });
}

}  // namespace

ReplicationSession::ReplicationSession(core::ReplicationPeer peer, std::unique_ptr<ProviderLink> link,
                                       const TwinDataGuard::Home& home, std::shared_ptr<ProviderBudget> budget,
                                       Context context)
    : peer_(std::move(peer)),
      context_(context),
      link_(std::move(link)),
      guard_(peer_, home, context),
      provider_api_(make_provider_api(link_->transport(), peer_.remote, context)),
      budget_(std::move(budget)),
      stores_(budget_->stores,
              [this] {
                if (ended_) ended_();
              }),
      provider_(context.executor, provider_api_, context.metrics, &stores_),
      probe_(peer_, provider_api_, *link_, context,
             {.is_refused = [this] { return is_read_refused(); },
              .came_back = [this] { budget_->orders->wake(context_.clock.now()); },
              .changed = [this] { notify(); },
              .probed =
                  [this] {
                    // There is no change of a cache when there are none any more.
                    if (provider_.trouble(kube::Errc::too_large)) enqueue_all();
                  }}),
      controller_(context,
                  {.name = "replication",
                   .limits = {.workers = 8, .workers_per_group = 8, .backoff = {100ms, max_pause}},
                   .guard = 2min,
                   .grace = 5s},
                  [this](kube::WorkKey key) { return work_on(std::move(key)); }),
      orders_(peer_, provider_api_, budget_->orders, context,
              {.answers = [this] { return probe_.answers() == true && probe_.is_withdrawn() != true; },
               .wake = [this] { enqueue_all(); },
               .try_again = [this](const kube::WorkKey& work,
                                   kube::Duration pause) { controller_.enqueue_after(work, pause); },
               .changed = [this] { notify(); }}),
      workers_(context.executor),
      log_(kube::Log("replication").with("cluster", peer_.remote).with("namespace", peer_.local_namespace)) {
  share_history(provider_);
  watch_kinds();
}

void ReplicationSession::watch_kinds() {
  kinds_.reserve(core::replicated_kinds().size());
  for (const kube::Resource& resource : core::replicated_kinds()) {
    Kind& kind = kinds_.emplace_back(Kind{.resource = resource,
                                          .home = context_.home.acquire({.resource = resource}),
                                          .provider = provider_.acquire(scope_of_replicas(peer_, resource))});
    kind.home.subscribe(
        [this, &kind](const kube::ObjectKey& key) {
          if (key.ns == peer_.local_namespace) enqueue(kind, key.name);
        },
        [this] { enqueue_all(); });
    kind.provider.subscribe([this, &kind](const kube::ObjectKey& key) { enqueue(kind, key.name); },
                            [this] { enqueue_all(); });
    if (resource == api::kinds::namespace_maps)
      kind.home.follow([this](const kube::Change& map) {
        if (map.key.ns == peer_.local_namespace) guard_.see(map.key, map.now);
      });
  }
}

bool ReplicationSession::is_read_refused() const {
  return std::ranges::any_of(kinds_, [](const Kind& kind) {
    const auto& trouble = kind.provider->trouble();
    return trouble && trouble->is_forbidden();
  });
}

void ReplicationSession::notify() {
  if (health_changed_) health_changed_();
}

void ReplicationSession::start() {
  workers_.spawn(provider_.run());
  workers_.spawn(controller_.run());
  if (probe_.is_wanted()) workers_.spawn(probe_.run());
  workers_.spawn(probe_.beat());
  workers_.spawn(orders_.run());
  enqueue_all();
}

void ReplicationSession::on_end(std::function<void()> handler) {
  ended_ = handler;
  workers_.on_loss(std::move(handler));
}

asio::awaitable<void> ReplicationSession::stop() {
  co_await workers_.stop();
  co_await link_->stop();
}

void ReplicationSession::set_peer_lost(bool lost) {
  if (std::exchange(peer_lost_, lost) == lost) return;
  if (lost) log_.warn("the provider is declared permanently unreachable: nothing waits for it any more");
  enqueue_all();
}

ReplicationSession::Kind& ReplicationSession::kind_of(const kube::WorkKey& work) {
  for (Kind& kind : kinds_)
    if (kind.resource.plural == work.group) return kind;
  return kinds_.front();
}

void ReplicationSession::enqueue(const Kind& kind, const std::string& name) {
  controller_.enqueue({std::string(kind.resource.plural), {peer_.local_namespace, name}});
}

void ReplicationSession::enqueue_all() {
  for (const Kind& kind : kinds_) {
    for (const kube::ObjectKey& key : kind.home->store().keys_in(peer_.local_namespace)) enqueue(kind, key.name);
    for (const kube::ObjectKey& key : kind.provider->store().keys()) enqueue(kind, key.name);
  }
}

void ReplicationSession::report_failed(const Kind& kind, const kube::Object& local, const kube::Failure& failure,
                                       std::string_view what) {
  const bool is_too_much = failure.code() == kube::Errc::too_large;
  if (!failure.is_permanent() && !is_too_much) return;
  if (is_too_much && !may_report_refusal(kind, local)) return;
  context_.events.warning(local, kind.resource, api::reasons::failed_replication,
                          name_of(kind.resource, local) + " " + std::string(what) + " " + peer_.remote +
                              ", which is tried again: " + failure.text() +
                              (is_too_much ? "; have what does not belong there removed" : ""));
}

bool ReplicationSession::may_report_refusal(const Kind& kind, const kube::Object& local) {
  const kube::TimePoint now = context_.clock.now();
  auto& reported = memory_[{std::string(kind.resource.plural), local.key()}].reported_refusal;
  // The provider may change the size, and with it the message, as often as it likes.
  if (reported && now - *reported < refusal_reported_again) return false;
  reported = now;
  return true;
}

void ReplicationSession::report_refused_status(const Kind& kind, const kube::Object& local, const std::string& why) {
  if (!may_report_refusal(kind, local)) return;
  log_.warn("a status does not come home, because it is too large",
            {{"kind", kind.resource.kind}, {"object", local.key()}, {"error", why}});
  context_.events.warning(local, kind.resource, api::reasons::failed_replication,
                          name_of(kind.resource, local) + " " + std::string(no_status) + " " + peer_.remote + ": " +
                              why + "; have what does not belong to it removed there");
}

Outcome ReplicationSession::failed_at_home(const Kind& kind, const kube::Object& local, kube::Failure failure,
                                           std::string_view what) {
  report_failed(kind, local, failure, what);
  return Outcome::retry(std::move(failure));
}

Outcome ReplicationSession::failed(const Kind& kind, const kube::Object& local, kube::Failure failure) {
  if (failure.is_forbidden()) probe_.note_refused();
  report_failed(kind, local, failure, not_replicated);
  return Outcome::retry(std::move(failure));
}

void ReplicationSession::forget(const kube::WorkKey& work) {
  memory_.erase(work);
  orders_.forget(work);
}

asio::awaitable<Outcome> ReplicationSession::work_on(kube::WorkKey work) {
  Outcome outcome = co_await reconcile(work);
  const Kind& kind = kind_of(work);
  auto local = kind.home->find(work.object);
  // Providers that have taken our rights away, or are gone for good, are not asked.
  if (local && (local->is_deleting() || probe_.is_withdrawn() == true || peer_lost_ ||
                !core::is_for_peer(*local, peer_) || !core::is_ready_to_replicate(kind.resource, *local)))
    local.reset();
  orders_.see(work, local, kind.provider->find({peer_.remote_namespace, work.object.name}));
  orders_.note_end(work, outcome.failure().has_value());
  co_return std::move(outcome);
}

bool ReplicationSession::Pair::is_current() const {
  return same(local, kind.home->find(work.object)) && same(remote, kind.provider->find(remote_key));
}

asio::awaitable<Outcome> ReplicationSession::reconcile(kube::WorkKey work) {
  Kind& kind = kind_of(work);
  const kube::ObjectKey remote_key{peer_.remote_namespace, work.object.name};
  Pair pair{.kind = kind,
            .work = work,
            .remote_key = remote_key,
            .local = kind.home->find(work.object),
            .remote = kind.provider->find(remote_key)};
  if (auto ended = co_await judge_twins(pair)) co_return std::move(*ended);
  pair.missing = look_for_missing(work, pair.local, pair.remote);
  core::ReplicationPlan plan = plan_for(pair);
  if (auto ended = co_await end_by_plan(pair, plan)) co_return std::move(*ended);
  if (!pair.local) {
    forget(work);
    // The completion of the caches enqueues every key, and the removal of a replica is an event.
    co_return Outcome::done();
  }
  if (std::holds_alternative<action::AwaitEnd>(plan)) co_return co_await await_end(pair);
  memory_[work].refused_since.reset();
  memory_[work].ending_seen.reset();
  if (std::holds_alternative<action::Guard>(plan)) {
    // The cache shows the object with its finalizer, which enqueues this key.
    auto guarded =
        co_await add_finalizer(context_.home.api(), *kind.home, *pair.local, api::finalizers::replicated_object);
    if (!guarded) co_return failed_at_home(kind, *pair.local, std::move(guarded.error()), not_replicated);
    co_return Outcome::done();
  }
  if (auto* made = std::get_if<action::Create>(&plan))
    co_return co_await create(kind, std::move(*pair.local), std::move(made->replica));
  if (auto* changed = std::get_if<action::Follow>(&plan))
    if (auto ended = co_await follow(pair, std::move(*changed))) co_return std::move(*ended);
  if (auto ended = look_at_cache(pair)) co_return std::move(*ended);
  if (pair.judged.failure) co_return failed(kind, *pair.local, std::move(*pair.judged.failure));
  const auto next = next_look(pair);
  co_return next ? Outcome::again_after(*next) : Outcome::done();
}

asio::awaitable<std::optional<Outcome>> ReplicationSession::judge_twins(Pair& pair) {
  const Kind& kind = pair.kind;
  if (!pair.remote && kind.resource == api::kinds::namespace_maps) guard_.forget(pair.work.object);
  if (!is_guarded(kind, pair.remote)) co_return std::nullopt;
  pair.judged = co_await guard_.judge(pair.local, *pair.remote);
  // Changes meanwhile are judged again.
  if (!pair.is_current()) co_return Outcome::again_after(0ms);
  if (!pair.local) co_return std::nullopt;
  auto marked = co_await mark_kept(kind, *pair.local, pair.judged);
  if (!marked) co_return failed_at_home(kind, *pair.local, std::move(marked.error()), no_status);
  // The cache enqueues the map.
  if (*marked) co_return Outcome::done();
  report_kept(pair.work, *pair.local, pair.judged.kept);
  co_return std::nullopt;
}

core::ReplicationPlan ReplicationSession::plan_for(const Pair& pair) const {
  return core::plan_replication(pair.kind.resource,
                                {.local = pair.local ? &*pair.local : nullptr,
                                 .remote = pair.remote ? &*pair.remote : nullptr,
                                 .local_known = pair.kind.home->has_synced(),
                                 .remote_known = pair.kind.provider->has_synced(),
                                 .peer_lost = peer_lost_,
                                 .missing = pair.missing,
                                 .kept = pair.judged.kept},
                                peer_);
}

asio::awaitable<std::optional<Outcome>> ReplicationSession::end_by_plan(Pair& pair, core::ReplicationPlan& plan) {
  const kube::ObjectKey key = pair.work.object;
  if (std::holds_alternative<action::Remove>(plan)) {
    auto wanted = co_await is_wanted_live(pair.kind, key);
    if (!wanted) co_return Outcome::retry(std::move(wanted.error()));
    // Changes meanwhile are planned again. A cache that has lost the replica does not prove that it is gone: the labels
    // by which it is watched may be damaged.
    if (*wanted || !same(pair.remote, pair.kind.provider->find(pair.remote_key))) co_return Outcome::again_after(0ms);
    co_return co_await end(pair.kind, key, Witness::cache);
  }
  if (auto* held = std::get_if<action::Hold>(&plan))
    co_return co_await hold(pair.kind, pair.work, std::move(*held), std::move(pair.judged.kept));
  if (const auto* release = std::get_if<action::Release>(&plan))
    co_return co_await end(pair.kind, key, release->confirm_absence ? Witness::provider : Witness::nobody);
  co_return std::nullopt;
}

asio::awaitable<Outcome> ReplicationSession::await_end(const Pair& pair) {
  Memory& memory = memory_[pair.work];
  const kube::TimePoint now = context_.clock.now();
  if (!memory.ending_seen) memory.ending_seen = now;
  if (const kube::Duration waited = now - *memory.ending_seen; waited < look_again && !memory.refused_since)
    co_return Outcome::again_after(look_again - waited);
  memory.ending_seen = now;
  co_return co_await end(pair.kind, pair.work.object, Witness::provider);
}

asio::awaitable<std::optional<Outcome>> ReplicationSession::follow(const Pair& pair, action::Follow plan) {
  const Kind& kind = pair.kind;
  if (plan.update) {
    auto updated = co_await update(kind, pair.work, std::move(*plan.update));
    if (!updated) co_return failed(kind, *pair.local, std::move(updated.error()).in("updating the replica"));
  }
  if (!plan.status) co_return std::nullopt;
  if (const std::string why = core::refuse_status(kind.resource, *pair.remote); !why.empty()) {
    report_refused_status(kind, *pair.local, why);
    co_return std::nullopt;
  }
  auto written = co_await write_status(kind, pair.work, std::move(*plan.status));
  if (!written) co_return failed_at_home(kind, *pair.local, std::move(written.error()), no_status);
  co_return std::nullopt;
}

std::optional<Outcome> ReplicationSession::look_at_cache(const Pair& pair) {
  const auto& trouble = pair.kind.provider->trouble();
  const bool is_too_much = trouble && trouble->code() == kube::Errc::too_large;
  if ((!is_too_much && pair.kind.provider->has_synced()) || !core::is_for_peer(*pair.local, peer_)) return std::nullopt;
  if (trouble) report_failed(pair.kind, *pair.local, *trouble, not_replicated);
  if (!pair.kind.provider->has_synced()) return Outcome::again_after(unknown_pause);
  return std::nullopt;
}

std::optional<kube::Duration> ReplicationSession::next_look(const Pair& pair) {
  std::optional<kube::Duration> next;
  if (!pair.missing.empty()) next = memory_[pair.work].missing.left(context_.clock.now());
  const TwinDataGuard::Judgement& judged = pair.judged;
  if (judged.kept.empty()) return next;
  const kube::Duration kept_again = judged.is_complete          ? look_again
                                    : are_all_seen(judged.kept) ? next_looks_again
                                                                : next_looks;
  return std::min(next.value_or(look_again), kept_again);
}

bool ReplicationSession::is_guarded(const Kind& kind, const std::optional<kube::Object>& remote) const {
  return kind.resource == api::kinds::namespace_maps && kind.home->has_synced() && !peer_lost_ &&
         probe_.is_withdrawn() != true && remote && !remote->is_deleting() && core::is_replica(*remote, peer_);
}

asio::awaitable<kube::Result<bool>> ReplicationSession::mark_kept(const Kind& kind, kube::Object local,
                                                                  TwinDataGuard::Judgement judged) {
  if (local.is_deleting() || !core::is_for_peer(local, peer_)) co_return false;
  const auto marks = core::plan_kept_marks(local, judged.kept, judged.withdrawn);
  if (!marks) co_return false;
  std::string body = kube::json::serialize(*marks);
  co_await budget_->home_writes.take({.bytes = stored_bytes(*kind.home, local.key(), body.size())});
  KUBE_CO_TRYV(
      co_await kube::merge_patch(context_.home.api(), *kind.home, local.key(),
                                 {.body = std::move(body), .phase = "noting the remote namespaces that hold data"}));
  co_return true;
}

void ReplicationSession::report_kept(const kube::WorkKey& work, const kube::Object& local,
                                     std::vector<core::KeptTwin> kept) {
  const auto before = std::exchange(memory_[work].reported, {});
  auto& reported = memory_[work].reported;
  for (core::KeptTwin& twin : kept) {
    const auto known = before.find(twin.local);
    const bool is_known = known != before.end() && known->second == twin.why;
    // The twins were not looked at (again) yet.
    if (twin.why.empty() && known != before.end()) reported.insert(*known);
    // A twin that is not reported now is reported by the next look; the annotation names them all.
    if (twin.why.empty() || (!is_known && !budget_->best_effort.try_take())) continue;
    if (!is_known) context_.events.warning(local, api::kinds::namespace_maps, api::reasons::twin_holds_data, twin.why);
    reported.insert_or_assign(std::move(twin.local), std::move(twin.why));
  }
}

asio::awaitable<Outcome> ReplicationSession::hold(const Kind& kind, kube::WorkKey work, action::Hold plan,
                                                  std::vector<core::KeptTwin> kept) {
  if (plan.update) {
    KUBE_CO_TRYV(co_await update(kind, work, std::move(*plan.update)), "leaving in the replica what holds data");
  }
  const std::string names = core::held_names(kept, nullptr);
  const auto local = kind.home->find(work.object);
  if (plan.release && local) {
    KUBE_CO_TRYV(
        co_await remove_finalizer(context_.home.api(), *kind.home, *local, api::finalizers::replicated_object));
  } else if (plan.restore && !local && !names.empty() && work.object.name == peer_.remote) {
    // This cluster makes one map for a provider, with that name. A provider cannot make it create others by showing
    // them.
    kube::Object map = core::forge_namespace_map(work.object, peer_.remote, {});
    map.set_annotation(api::annotations::holds_data, names);
    co_await budget_->home_writes.take({.bytes = map.text().size()});
    auto created = co_await context_.home.api().create(kind.resource, map);
    if (!created && created.error().is_already_exists())
      created = co_await context_.home.api().get(kind.resource, work.object);
    if (!created) co_return Outcome::retry(std::move(created.error()).in("noting at home what stays at the provider"));
    log_.info("a NamespaceMap is at home again for remote namespaces that hold data", {{"object", work.object}});
    kind.home->observe(std::move(*created));
  } else if (plan.restore && !local && !names.empty()) {
    constexpr std::string_view line =
        "a NamespaceMap that this cluster does not know stays at the provider, because "
        "its remote namespaces may hold data: delete it there if they do not";
    if (const auto held_back = unknown_maps_.note(line, context_.clock.now()))
      log_.warn(line, {{"object", work.object}, {"others_since", *held_back}});
  }
  co_return Outcome::again_after(are_all_seen(kept) ? look_again : 1s);
}

asio::awaitable<kube::Result<bool>> ReplicationSession::is_wanted_live(const Kind& kind, kube::ObjectKey key) {
  auto live = co_await context_.home.api().get(kind.resource, key);
  if (!live && live.error().is_not_found()) co_return false;
  if (!live) co_return kube::fail(std::move(live.error()), "asking home whether the replica is wanted");
  const bool is_wanted = !live->is_deleting() && core::is_for_peer(*live, peer_);
  kind.home->observe(std::move(*live));
  co_return is_wanted;
}

std::vector<api::WantedNamespace> ReplicationSession::look_for_missing(const kube::WorkKey& work,
                                                                       const std::optional<kube::Object>& local,
                                                                       const std::optional<kube::Object>& remote) {
  if (kind_of(work).resource != api::kinds::namespace_maps || !local || !remote) return {};
  core::MissingTwins& missing = memory_[work].missing;
  missing.observe(*local, *remote, context_.clock.now());
  return missing.troubled(context_.clock.now());
}

asio::awaitable<kube::Result<std::optional<kube::Object>>> ReplicationSession::look(const Kind& kind,
                                                                                    const kube::ObjectKey& remote_key) {
  auto live = co_await provider_api_.get(kind.resource, remote_key);
  if (!live && live.error().is_not_found()) co_return std::nullopt;
  if (!live) co_return kube::fail(std::move(live.error()), "looking for the replica");
  if (!core::is_replica(*live, peer_)) co_return std::nullopt;
  co_return std::move(*live);
}

asio::awaitable<Outcome> ReplicationSession::end(const Kind& kind, kube::ObjectKey key, Witness witness) {
  const kube::WorkKey work{std::string(kind.resource.plural), key};
  const kube::ObjectKey remote_key{peer_.remote_namespace, key.name};
  std::optional<kube::Failure> failure;
  auto replica = witness == Witness::cache ? kind.provider->find(remote_key) : std::nullopt;
  if (witness == Witness::provider) {
    auto found = co_await look(kind, remote_key);
    if (!found) {
      failure = std::move(found.error());
    } else {
      replica = std::move(*found);
    }
    // The twins that go with a map are judged if the cache has it.
    if (replica && !replica->is_deleting() && kind.resource == api::kinds::namespace_maps && !peer_lost_) {
      kind.provider->observe(std::move(*replica));
      co_return Outcome::again_after(0ms);
    }
  }
  if (replica && !replica->is_deleting()) {
    // Another object of the name is looked at again: 409 is a failure here.
    auto removed = co_await provider_api_.remove(kind.resource, remote_key, {.uid = std::string(replica->uid())});
    if (removed) {
      log_.info("replica deleted", {{"kind", kind.resource.kind}, {"object", remote_key}});
    } else if (removed.error().is_not_found()) {
      kind.provider->observe_gone(remote_key, replica->uid());
      co_return Outcome::again_after(0ms);
    } else {
      failure = std::move(removed.error()).in("deleting the replica");
    }
  }
  // Finalizers may hold the replica there for a time; its last event, or another look, shows its end.
  if (replica && !failure) {
    memory_[work].refused_since.reset();
    co_return Outcome::again_after(witness == Witness::provider ? 1s : look_again);
  }

  const auto local = kind.home->find(key);
  if (failure) {
    if (!is_refused_access(*failure) || !local) co_return Outcome::retry(std::move(*failure));
    probe_.note_refused();
    const kube::TimePoint now = context_.clock.now();
    auto& since = memory_[work].refused_since;
    if (!since) since = now;
    if (probe_.is_withdrawn() != true && now - *since < refusal_patience) co_return Outcome::again_after(refusal_pause);
    log_.warn("the provider refuses to be asked about the replica, which is left to it",
              {{"kind", kind.resource.kind}, {"object", remote_key}, {"error", *failure}});
  }
  forget(work);
  if (!local || (!local->is_deleting() && core::is_for_peer(*local, peer_))) co_return Outcome::done();
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *kind.home, *local, api::finalizers::replicated_object));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ReplicationSession::create(const Kind& kind, kube::Object local, kube::Object replica) {
  const kube::ObjectKey remote_key = replica.key();
  auto created = co_await provider_api_.create(kind.resource, replica);
  orders_.note_taking({std::string(kind.resource.plural), local.key()}, created ? nullptr : &created.error());
  if (created) {
    log_.info("replica created", {{"kind", kind.resource.kind}, {"object", remote_key}});
    kind.provider->observe(std::move(*created));
    co_return Outcome::done();
  }
  if (!created.error().is_already_exists())
    co_return failed(kind, local, std::move(created.error()).in("creating the replica"));
  // The object there is ours and not in the cache yet (its labels may be damaged), or has another owner.
  auto live = co_await look(kind, remote_key);
  if (!live) co_return failed(kind, local, std::move(live.error()));
  if (!*live) {
    context_.events.warning(local, kind.resource, api::reasons::replication_name_taken,
                            name_of(kind.resource, local) + " is not replicated: cluster " + peer_.remote +
                                " has another " + std::string(kind.resource.kind) + " of this name in namespace " +
                                peer_.remote_namespace + "; use another name");
    co_return Outcome::again_after(look_again);
  }
  if (!(*live)->is_deleting()) {
    // If it asks for more than we want, that is judged once it is in the cache.
    std::vector<core::KeptTwin> all;
    if (kind.resource == api::kinds::namespace_maps)
      for (core::WithdrawnTwin& twin : core::withdrawn_twins(&local, **live, {}, peer_))
        all.push_back({.local = std::move(twin.local), .remote = std::move(twin.remote), .why = {}});
    if (auto patch = core::update_replica(local, **live, peer_, all)) {
      auto repaired = co_await provider_api_.patch(kind.resource, remote_key,
                                                   {kube::PatchType::merge, kube::json::serialize(*patch)});
      if (!repaired) co_return failed(kind, local, std::move(repaired.error()).in("repairing the replica"));
      *live = std::move(*repaired);
    }
  }
  kind.provider->observe(std::move(**live));
  co_return Outcome::again_after(1s);
}

asio::awaitable<kube::Result<void>> ReplicationSession::update(const Kind& kind, kube::WorkKey work,
                                                               kube::json::object patch) {
  const kube::ObjectKey remote_key{peer_.remote_namespace, work.object.name};
  const std::string base(kube::string_at(patch, {"metadata", "resourceVersion"}));
  std::string text = kube::json::serialize(patch);
  if (memory_[work].futile_update == text) co_return kube::Result<void>();
  auto patched = co_await provider_api_.patch(kind.resource, remote_key, {kube::PatchType::merge, text});
  orders_.note_taking(work, patched ? nullptr : &patched.error());
  if (!patched && patched.error().is_not_found()) {
    // The watch lags behind, or may not read any more. The change of the cache enqueues the key.
    kind.provider->observe_gone(remote_key, kube::string_at(patch, {"metadata", "uid"}));
    co_return kube::Result<void>();
  }
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  if (patched->resource_version() == base) {
    // The provider has another version of the kind: it dropped a field that it does not know, and would again.
    log_.warn("the provider does not store everything of the replica",
              {{"kind", kind.resource.kind}, {"object", remote_key}});
    memory_[work].futile_update = std::move(text);
  } else {
    log_.debug("replica updated", {{"kind", kind.resource.kind}, {"object", remote_key}});
    if (kind.resource == api::kinds::resource_slices && patch.contains("spec")) orders_.note_outdated(work, *patched);
  }
  kind.provider->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> ReplicationSession::write_status(const Kind& kind, kube::WorkKey work,
                                                                     kube::json::object patch) {
  const std::string base(kube::string_at(patch, {"metadata", "resourceVersion"}));
  std::string text = kube::json::serialize(patch);
  if (memory_[work].futile_status == text) co_return kube::Result<void>();
  co_await budget_->home_writes.take({.bytes = stored_bytes(*kind.home, work.object, text.size()),
                                      .writes = core::writes_caused(kind.resource, patch)});
  KUBE_CO_TRY(patched,
              co_await kube::merge_patch(
                  context_.home.api(), *kind.home, work.object,
                  {.body = text, .phase = "taking over the provider's status", .options = {.subresource = "status"}}));
  if (patched && patched->resource_version() == base) memory_[work].futile_status = std::move(text);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<bool>> ReplicationSession::has_replicas() {
  for (const Kind& kind : kinds_) {
    const kube::InformerScope scope = scope_of_replicas(peer_, kind.resource);
    const kube::ListOptions options{.selection = scope.selection, .limit = 1};
    auto page = co_await provider_api_.list(kind.resource, scope.ns, options);
    if (!page && page.error().is_not_found()) continue;
    if (!page) co_return kube::fail(std::move(page.error()), "looking for replicas");
    if (!page->items.empty()) co_return true;
  }
  co_return false;
}

}  // namespace liqo::controllers
