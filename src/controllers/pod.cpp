#include "liqo/controllers/pod.hpp"

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/core/forge/node_debugger.hpp"
#include "liqo/core/forge/shadow_pod.hpp"
#include "liqo/core/left_out.hpp"
#include "liqo/core/mapping/names.hpp"
#include "liqo/telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::pod_action;
using kube::Outcome;
namespace reasons = api::reasons;

/// How long a created ShadowPod may stay unseen before it is read live.
constexpr kube::Duration unseen_time = 5s;
/// A namespace that is offloaded as it is made has its twin moments later than its first pods: nobody is told that it
/// has none before this time is over.
constexpr kube::Duration twin_patience = 5s;
/// Before the pods of home are tried to be read again.
constexpr kube::BackoffPolicy refresh_backoff{200ms, 10s};

/// In seconds: from what a container that is there takes, to what a large image does.
const std::vector<double> start_time_bounds{1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800};

/// What is to be changed in a status, and the status itself, in short.
std::string difference_digest(const kube::Object& pod, const kube::json::object& patch) {
  return core::digest_hex(kube::json::serialize(patch) + kube::json::serialize(pod.status()));
}

}  // namespace

PodController::PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context)
    : forging_(std::move(forging)),
      provider_(provider),
      budget_(budget),
      context_(context),
      begun_(context.clock.wall()),
      local_pods_(context.home.acquire(
          {.resource = kube::resources::pods, .selection = {.field_selector = "spec.nodeName=" + forging_.node_name}})),
      virtual_nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      slices_(context.home.acquire({.resource = api::kinds::resource_slices})),
      controller_(
          context,
          {.name = "pod",
           .limits = {.workers = context.settings.pod_workers, .workers_per_group = context.settings.pod_workers}},
          [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      questions_(context, {.name = "pod_events", .limits = {.workers = 1, .workers_per_group = 1}},
                 [this](kube::WorkKey key) { return ask_events(std::move(key)); }),
      log_(kube::Log("pod").with("cluster", forging_.clusters.remote).with("node", forging_.node_name)) {
  reader_ = provider_.twins.join({
      .shadow_changed =
          [this](const TwinWatch& watch, const kube::Change& change) {
            // Its room may be free now.
            if (!change.now && twins_.contains(watch.local)) ask_again();
            enqueue_changed(watch, change);
          },
      .pod_changed = [this](const TwinWatch& watch, const kube::Change& change) { enqueue_changed(watch, change); },
      .synced =
          [this](const TwinWatch& watch) {
            const Twin* twin = find_twin(watch.local);
            if (!twin || twin->watch.get() != &watch) return;
            enqueue_twin(watch.local);
            if (twin->withdrawn) enqueue({watch.local, {}});
          },
      .is_needed = [this](const TwinWatch& watch) { return is_needed(watch); },
  });
  local_pods_.subscribe([this](const kube::ObjectKey& key) { enqueue(key); }, [this] { enqueue_all(); });
  // A slice and its virtual node have one name.
  for (kube::InformerHandle* grant : {&virtual_nodes_, &slices_})
    grant->subscribe([this](const kube::ObjectKey& key) {
      if (key.name == forging_.node_name) ask_again();
    });
  if (!context.settings.storage_class.empty()) claims_ = context.home.acquire({.resource = api::kinds::claims});
  start_times_ = context.metrics.histogram(
      families::pod_start, {{"cluster_id", forging_.clusters.remote}, {"node_name", forging_.node_name}},
      start_time_bounds);
  enqueue_all();
}

PodController::~PodController() { provider_.twins.leave(reader_); }

asio::awaitable<void> PodController::run() {
  begun_ = context_.clock.wall();
  for (auto& [key, memory] : memory_) memory.seen = false;
  // Whoever led before may have ended pods that the watch of this process, if it is late, still shows: they must not be
  // made again.
  co_await local_pods_->wait_synced();
  for (int failures = 1; !co_await local_pods_->refresh(); ++failures)
    co_await context_.clock.sleep(refresh_backoff.pause(failures, context_.random));
  for (const auto& [local, twin] : twins_) {
    provider_.twins.wake_anew(*twin.watch);
    enqueue({local, {}});
  }
  co_await controller_.run();
}

void PodController::enqueue_all() {
  for (const kube::ObjectKey& key : local_pods_->store().keys()) enqueue(key);
  for (const auto& [local, twin] : twins_) enqueue_twin(local);
}

void PodController::enqueue(const kube::ObjectKey& local_key) { controller_.enqueue({forging_.node_name, local_key}); }

void PodController::set_addresses(core::PeerAddresses addresses) {
  if (addresses_ == addresses) return;
  addresses_ = std::move(addresses);
  told_address_left_out_ = false;
  enqueue_all();
}

void PodController::set_withdrawal(std::string withdrawal) {
  if (withdrawal_ == withdrawal) return;
  withdrawal_ = std::move(withdrawal);
  enqueue_all();
}

void PodController::tell_address_left_out(const kube::Object& local, const std::string& address) {
  if (std::exchange(told_address_left_out_, true)) return;
  const std::string message = "Cluster " + forging_.clusters.remote + " reports address " + address +
                              " of this pod, which is left out: " + addresses_->words() +
                              ". If it is right, declare its range, too (" +
                              std::string(api::annotations::remote_pod_cidrs) + " of the ForeignCluster)";
  log_.warn("an address is left out", {{"pod", local.key()}, {"address", address}});
  context_.events.warning(local, kube::resources::pods, reasons::address_left_out, message);
}

PodController::Memory& PodController::memory_of(const kube::ObjectKey& key, std::string_view uid) {
  Memory& memory = memory_[key];
  if (memory.uid != uid) memory = Memory{.uid = std::string(uid)};
  return memory;
}

asio::awaitable<Outcome> PodController::reconcile(kube::WorkKey key) {
  // Nothing is decided before all caches are complete; their completion brings every key back here.
  if (!local_pods_->has_synced() || !mapping_known_) co_return Outcome::done();
  if (key.object.name.empty()) {
    leave_withdrawn(key.object.ns);
    co_return co_await look_for_tokens(key.object.ns);
  }
  if (mapping_.withdrawn(key.object.ns))
    if (auto local = local_pods_->find(key.object)) {
      auto looked = co_await look_behind(std::move(*local));
      if (!looked) co_return Outcome::retry(std::move(looked.error()));
    }
  Twin* twin = find_twin(key.object.ns);
  if (!twin) wake(refused_.left(key.object));
  // It rests where there was no pod until now; its caches bring the pod back here.
  if (twin && local_pods_->store().contains(key.object)) provider_.twins.wake(*twin->watch);
  if (twin && !twin->has_synced()) co_return Outcome::done();
  if (!twin || !local_pods_->store().contains(key.object)) {
    note_refusal(key.object, false);
    note_resize(key.object, false);
  }

  std::optional<Outcome> outcome;
  if (twin) {
    outcome = co_await reconcile_mapped(key.object, twin->remote);
  } else if (auto local = local_pods_->find(key.object)) {
    outcome = co_await reconcile_unmapped(key.object, std::move(*local));
  } else {
    memory_.erase(key.object);
    outcome = Outcome::done();
  }
  twin = find_twin(key.object.ns);
  if (twin && outcome->failure()) twin->counters.add_failed(series_of(key.object.ns));
  if (const kube::ObjectKey remote{twin ? twin->remote : "", key.object.name};
      twin && twin->withdrawn && !twin->contains(&TwinWatch::shadows, remote) &&
      !twin->contains(&TwinWatch::pods, remote))
    leave_withdrawn(key.object.ns);
  co_return std::move(*outcome);
}

asio::awaitable<Outcome> PodController::reconcile_unmapped(kube::ObjectKey key, kube::Object local) {
  const std::string message =
      withdrawal_.empty() ? "Namespace " + key.ns + " has no twin in cluster " + forging_.clusters.remote +
                                ": offload the namespace, or keep the pod off nodes labelled liqo.io/type=virtual-node "
                                "(a DaemonSet needs an affinity for that)"
                          : withdrawal_;
  auto plan = core::plan_unmapped_pod(local, mapping_.is_troubled(key.ns));
  // The reason for which it waits may have become known, or be another one by now.
  if (plan == core::UnmappedPodAction::nothing &&
      kube::string_at(local.status(), {"reason"}) == reasons::offloading_back_off &&
      kube::string_at(local.status(), {"message"}) != message)
    plan = core::UnmappedPodAction::back_off;
  if (plan == core::UnmappedPodAction::nothing) co_return Outcome::done();
  if (plan == core::UnmappedPodAction::back_off && core::is_node_debugger(local))
    co_return co_await refuse_node_debugger(std::move(local));
  if (plan == core::UnmappedPodAction::back_off && withdrawal_.empty()) {
    Memory& memory = memory_of(key, local.uid());
    const kube::TimePoint now = context_.clock.now();
    const kube::Duration waited = now - memory.without_twin_since.value_or(now);
    if (!memory.without_twin_since) memory.without_twin_since = now;
    if (waited < twin_patience) co_return Outcome::again_after(twin_patience - waited);
  }
  if (plan == core::UnmappedPodAction::remove_local) {
    auto removed = co_await remove_local(key, std::string(local.uid()));
    if (!removed) co_return Outcome::retry(std::move(removed.error()));
    co_return Outcome::done();
  }
  const bool aborts = plan == core::UnmappedPodAction::abort;
  auto wanted = core::forge_rejection(local, aborts ? "Failed" : "Pending",
                                      aborts ? reasons::offloading_aborted : reasons::offloading_back_off, message,
                                      context_.clock.wall());
  auto written = co_await write_status(local, std::move(wanted));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  context_.events.warning(local, kube::resources::pods, reasons::reflection_disabled, message);
  co_return Outcome::done();
}

asio::awaitable<Outcome> PodController::refuse_node_debugger(kube::Object local) {
  auto wanted = core::forge_node_debugger_refusal(local, forging_.clusters.remote, context_.clock.wall());
  const std::string message(kube::string_at(wanted.status, {"message"}));
  auto written = co_await write_status(local, std::move(wanted));
  if (!written) co_return Outcome::retry(std::move(written.error()));
  context_.events.warning(local, kube::resources::pods, reasons::offloading_refused, message);
  co_return Outcome::done();
}

asio::awaitable<Outcome> PodController::reconcile_mapped(kube::ObjectKey key, std::string remote_namespace) {
  const kube::ObjectKey remote_key{remote_namespace, key.name};
  std::optional<kube::Object> local, shadow, remote;
  core::PodPlan plan;
  bool withdrawn = false, seen = false, mounts_tokens = false, needs_tokens = false, knows_tokens = false;
  {
    Twin& twin = *find_twin(key.ns);
    withdrawn = twin.withdrawn;
    local = local_pods_->find(key);
    shadow = twin.find(&TwinWatch::shadows, remote_key);
    mounts_tokens = shadow && core::mounts_tokens(*shadow);
    needs_tokens = local && !withdrawn && (mounts_tokens || core::needs_tokens(*local, forging_));
    if (needs_tokens && !twin.tokens) watch_tokens(key.ns, twin);
    knows_tokens = twin.knows_tokens();
    remote = twin.find(&TwinWatch::pods, remote_key);
    // That it has started is written late, perhaps into a namespace that ends.
    if (const auto known = memory_.find(key); known != memory_.end() && (!local || local->is_deleting()))
      context_.events.forget_routine(known->second.uid);
    if (!local && !shadow && !remote) memory_.erase(key);
    core::PodMemory remembered;
    if (local) {
      Memory& memory = memory_of(key, local->uid());
      if (shadow) memory.plan.shadow_created = false;
      for (const auto* ours : {&shadow, &remote})
        if (*ours && (*ours)->annotation(api::annotations::local_pod_uid) == local->uid()) memory.seen = true;
      seen = memory.seen;
      if (remote && core::is_run_of(*remote, *local, forging_.clusters)) memory.plan.remote_started = true;
      memory.plan.shut_out = closed_ && without_room_.contains(key);
      memory.plan.order_in_doubt = context_.clock.now() < memory.in_doubt_until;
      see_ending(memory, remote ? &*remote : nullptr);
      remembered = memory.plan;
    }
    const auto decide = withdrawn ? core::plan_withdrawn_pod : core::plan_pod;
    plan = decide(local ? &*local : nullptr, shadow ? &*shadow : nullptr, remote ? &*remote : nullptr, remembered,
                  forging_);
  }

  if (!std::holds_alternative<action::CreateShadow>(plan.action)) wake(refused_.left(key));
  if (local && shadow && api::ShadowPod(*shadow).is_finished() &&
      !std::exchange(memory_of(key, local->uid()).freed, true))
    ask_again();

  if (!std::holds_alternative<action::CreateShadow>(plan.action)) note_refusal(key, false);
  const bool is_node_debugger =
      std::holds_alternative<action::CreateShadow>(plan.action) && core::is_node_debugger(*local);
  Outcome outcome = Outcome::done();
  std::string ephemeral_refusal;
  core::ResizeRefusal resize_refusal;
  bool is_sent = false;
  std::optional<kube::Duration> ending_left, resize_left;
  if (const auto most = remote && local && !local->is_deleting() ? core::ending_may_take(*remote) : std::nullopt)
    ending_left = *most - memory_of(key, local->uid()).plan.remote_ending_for;
  // What cannot be taken back wants more than that a cache has nothing: the replica that led before may have offloaded
  // the pod while this one heard nothing of the provider.
  const bool is_end = std::holds_alternative<action::FailLocal>(plan.action) || is_node_debugger ||
                      (!seen && (std::holds_alternative<action::RemoveLocal>(plan.action) ||
                                 std::holds_alternative<action::Reject>(plan.action)));
  if (is_end && !is_ours_alone(*local)) {
    auto right = co_await confirm(key, remote_key, shadow ? std::string(shadow->uid()) : "",
                                  remote ? std::string(remote->uid()) : "");
    if (!right) co_return Outcome::retry(std::move(right.error()));
    if (!*right) co_return Outcome::again_after(unseen_time);
  }
  if (is_node_debugger) co_return co_await refuse_node_debugger(std::move(*local));
  kube::Result<void> done;
  if (const auto* refuse = std::get_if<action::RefuseForeign>(&plan.action)) {
    if (local) {
      auto wanted = core::forge_refusal(*local, reasons::failed_reflection, refuse->message, context_.clock.wall());
      done = co_await write_status(*local, std::move(wanted));
      context_.events.warning(*local, kube::resources::pods, reasons::failed_reflection, refuse->message);
    }
  } else if (std::holds_alternative<action::AwaitShadow>(plan.action)) {
    const Memory& memory = memory_of(key, local->uid());
    const kube::Duration waited = context_.clock.now() - memory.shadow_created_at;
    if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
    auto live = co_await provider_.api.get(api::kinds::shadow_pods, remote_key);
    auto* cache = cache_of(key.ns, remote_namespace, &TwinWatch::shadows);
    if (live && cache) cache->observe(std::move(*live));
    if (!live && live.error().is_not_found()) memory_of(key, local->uid()).plan.shadow_created = false;
    if (!live && !live.error().is_not_found()) co_return Outcome::retry(std::move(live.error()));
    co_return Outcome::again_after(0ms);
  } else if (std::holds_alternative<action::AwaitOrder>(plan.action)) {
    outcome = Outcome::again_after(memory_of(key, local->uid()).in_doubt_until - context_.clock.now());
  } else if (const auto wait = std::holds_alternative<action::CreateShadow>(plan.action)
                                   ? wait_for_room(*local, remote_namespace)
                                   : std::nullopt) {
    outcome = Outcome::again_after(*wait);
  } else if (std::holds_alternative<action::CreateShadow>(plan.action)) {
    if (needs_tokens && !knows_tokens) co_return Outcome::done();
    auto tokens = co_await ensure_tokens(key, &*local, remote_namespace, false);
    if (!tokens) co_return Outcome::retry(std::move(tokens.error()));
    done = co_await create_shadow(*local, remote_key);
    if (!done)
      if (const auto left = wait_for_room(*local, remote_namespace)) {
        if (Twin* refused = find_twin(key.ns)) refused->counters.add_failed(series_of(key.ns));
        co_return Outcome::again_after(*left);
      }
    // The ShadowPod's appearance brings the pod back here. Where it existed already, the cache may lag.
    const Twin* twin = find_twin(key.ns);
    if (done && twin && !twin->contains(&TwinWatch::shadows, remote_key)) outcome = Outcome::again_after(unseen_time);
  } else if (std::holds_alternative<action::KeepShadow>(plan.action)) {
    auto updated = co_await update_shadow(*local, *shadow);
    if (!updated) done = std::unexpected(std::move(updated.error()));
    is_sent = updated && !*updated;
    if (done && remote) {
      auto added = co_await add_ephemeral(*local, remote_key, *remote);
      // The pod is shown as it is all the same.
      if (!added)
        outcome = Outcome::retry(std::move(added.error()));
      else
        ephemeral_refusal = std::move(*added);
      if (core::asks_otherwise(local->spec(), api::ShadowPod(*shadow).pod_spec())) {
        auto resized = co_await resize_shadow(*local, remote_key, *remote);
        if (resized) resize_refusal = std::move(*resized);
        if (!resized && !outcome.failure()) outcome = Outcome::retry(std::move(resized.error()));
      } else {
        // What is with the provider is told by the Pod.
        memory_of(key, local->uid()).refused_resize.clear();
        note_resize(key, false);
        see_resize(*local, *shadow, *remote);
        resize_refusal.words = core::resize_left_out(*remote);
      }
      const bool is_refused = !resize_refusal.words.empty() || !ephemeral_refusal.empty();
      is_sent = is_sent && (is_refused || core::has_sent(*local, *shadow));
      if (const Memory& memory = memory_of(key, local->uid()); !memory.refused_resize.empty())
        resize_left = memory.resize_again_at - context_.clock.now();
    }
    if (done && mounts_tokens) {
      auto tokens = co_await ensure_tokens(key, &*local, remote_namespace, true);
      // A pod that runs goes on with the tokens that it has, and is shown as it is.
      if (!tokens) {
        outcome = Outcome::retry(std::move(tokens.error()));
      } else if (*tokens && !outcome.failure()) {
        outcome = Outcome::again_after(**tokens);
      }
    }
  } else if (const auto* tell = std::get_if<action::TellGrace>(&plan.action)) {
    // From the first try on: whatever the provider answers, the pod has to end.
    if (await_ending(*local, tell->seconds) > 0ms) done = co_await tell_grace(key, *shadow, tell->seconds);
    outcome = Outcome::again_after(0ms);
  } else if (const auto* wait_for = std::get_if<action::AwaitEnding>(&plan.action)) {
    outcome = Outcome::again_after(await_ending(*local, wait_for->seconds));
  } else if (const auto* remove = std::get_if<action::DeleteShadow>(&plan.action)) {
    done = co_await delete_shadow(key, remote_key, *remove);
  } else if (const auto* remove_it = std::get_if<action::RemoveLocal>(&plan.action)) {
    done = co_await remove_local(key, remove_it->uid);
    if (!done) context_.events.warning(*local, kube::resources::pods, reasons::failed_deletion, done.error().text());
  } else if (std::holds_alternative<action::Reject>(plan.action)) {
    co_return co_await reconcile_unmapped(key, std::move(*local));
  } else if (const auto* evict = std::get_if<action::EvictLocal>(&plan.action)) {
    done = co_await evict_local(*local, remote_key, *evict);
  } else if (const auto* fail = std::get_if<action::FailLocal>(&plan.action)) {
    auto wanted = core::forge_rejection(*local, "Failed", fail->reason, fail->message, context_.clock.wall());
    done = co_await write_status(*local, std::move(wanted));
    if (done) context_.events.warning(*local, kube::resources::pods, fail->reason, fail->message);
  } else if (!local && !withdrawn) {
    auto tokens = co_await ensure_tokens(key, nullptr, remote_namespace, false);
    if (!tokens) done = std::unexpected(std::move(tokens.error()));
  }
  if (!done) co_return Outcome::retry(std::move(done.error()));

  if (plan.copy_status && local && remote) {
    see_remote(*local, *remote);
    Memory& memory = memory_of(key, local->uid());
    const kube::TimePoint now = context_.clock.now();
    if (!memory.remote_seen_at) memory.remote_seen_at = now;
    auto left = core::status_may_wait(*local, *remote, now - *memory.remote_seen_at);
    const bool may_wait = ephemeral_refusal.empty() && resize_refusal.words.empty() && !outcome.failure();
    if (may_wait && left == 0ms && !budget_.asides.try_take()) left = core::starting_time;
    if (may_wait && left > 0ms)
      co_return outcome.delay() && *outcome.delay() < *left ? outcome : Outcome::again_after(*left);
  }
  if (plan.copy_status && local) {
    if (remote) tell_left_out(*local, *remote);
    const core::StatusContext status_context{
        .provider = forging_.clusters.remote,
        .node_ip = context_.settings.node_ip,
        .addresses = addresses_ ? &*addresses_ : nullptr,
        .reflect_ips = context_.settings.reflect_ips,
        .warning = memory_of(key, local->uid()).questions.words(),
        .ephemeral_refusal = std::move(ephemeral_refusal),
        .is_sent = is_sent,
        .resize_refusal = std::move(resize_refusal),
        .api_server_trouble = core::api_server_trouble(*local, forging_, mounts_tokens)};
    auto wanted = core::forge_local_status(*local, remote ? &*remote : nullptr, shadow ? &*shadow : nullptr,
                                           status_context, context_.clock.wall());
    if (wanted) {
      const std::string refusal(core::refusal_told(wanted->status)), warning(core::warning_told(wanted->status));
      if (!wanted->left_out.empty()) tell_address_left_out(*local, wanted->left_out);
      auto written = co_await write_status(*local, std::move(*wanted));
      if (!written) co_return Outcome::retry(std::move(written.error()));
      tell_refusal(*local, refusal);
      tell_warning(*local, warning);
    }
  }
  // What is overdue has been seen to above; the event of what was done brings the pod back here.
  if (!outcome.failure() && resize_left > 0ms && (!ending_left || *resize_left < *ending_left))
    ending_left = resize_left;
  if (ending_left > 0ms && (!outcome.delay() || *outcome.delay() > *ending_left))
    co_return Outcome::again_after(*ending_left);
  co_return outcome;
}

void PodController::tell_left_out(const kube::Object& local, const kube::Object& remote) {
  // What is shown of a pod at home is recorded there: this is its first sight, over restarts of this process, too.
  if (local.annotation(api::annotations::remote_pod_uid) == remote.uid()) return;
  const auto things = core::left_out_of(local, remote);
  Memory& memory = memory_of(local.key(), local.uid());
  if (things.empty() || std::exchange(memory.told_left_out, true)) return;
  context_.events.warning(local, kube::resources::pods, reasons::left_out,
                          core::describe_left_out(things, forging_.clusters.remote));
}

void PodController::note_start(const kube::Object& shown) {
  const auto known = memory_.find(shown.key());
  if (known == memory_.end() || known->second.uid != shown.uid()) return;
  if (!known->second.bound || kube::string_at(shown.status(), {"phase"}) != "Running") return;
  const kube::WallTime bound = *std::exchange(known->second.bound, std::nullopt);
  start_times_.observe(std::max(0.0, std::chrono::duration<double>(context_.clock.wall() - bound).count()));
}

asio::awaitable<kube::Result<void>> PodController::write_status(const kube::Object& local, core::WantedStatus wanted) {
  auto patch = core::status_patch(local, wanted);
  if (!patch) co_return kube::Result<void>();
  if (const auto known = memory_.find(local.key()); known != memory_.end() && known->second.uid == local.uid() &&
                                                    !known->second.not_taken.empty() &&
                                                    known->second.not_taken == difference_digest(local, *patch))
    co_return kube::Result<void>();
  // The patch is a difference to what the cache showed: a request that was long under way must not undo a later one.
  (*patch)["metadata"].as_object()["resourceVersion"] = local.resource_version();
  co_await budget_.home_writes.take();
  auto patched =
      co_await context_.home.api().patch(kube::resources::pods, local.key(), kube::PatchType::strategic_merge,
                                         kube::json::serialize(*patch), {.subresource = "status"});
  if (patched) {
    note_start(*patched);
    for (const std::string& name : core::started_containers(local.status(), *patched))
      if (budget_.asides.try_take())
        context_.events.routine(*patched, kube::resources::pods, "Started",
                                "Container " + name + " started in cluster " + forging_.clusters.remote);
    const auto left = core::status_patch(*patched, wanted);
    if (const auto known = memory_.find(local.key()); known != memory_.end() && known->second.uid == patched->uid())
      known->second.not_taken = left ? difference_digest(*patched, *left) : std::string();
    local_pods_->observe(std::move(*patched));
    co_return kube::Result<void>();
  }
  if (patched.error().is_not_found()) co_return kube::Result<void>();
  co_return kube::fail(std::move(patched.error()), "writing the pod's status");
}

}  // namespace liqo::controllers
