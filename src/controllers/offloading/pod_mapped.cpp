// What a PodController does about one pod whose namespace has a twin.
#include "controllers/offloading/pod.hpp"
#include "core/offloading/final_status.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::pod_action;
using kube::Outcome;
namespace reasons = api::reasons;

/// How long a created ShadowPod may stay unseen before it is read live.
constexpr kube::Duration unseen_time = 5s;

/// How a reconcile ends that would end so, and has something to do after that time.
Outcome sooner(const Outcome& outcome, kube::Duration wait) {
  const auto& delay = outcome.delay();
  return outcome.failure() || (delay && *delay < wait) ? outcome : Outcome::again_after(wait);
}

}  // namespace

PodController::Look PodController::look_at(const kube::ObjectKey& key, const std::string& remote_namespace) {
  Look look{.key = key, .remote_key = {remote_namespace, key.name}};
  Twin& twin = *find_twin(key.ns);
  look.withdrawn = twin.withdrawn;
  look.local = local_pods_->find(key);
  look.shadow = twin.find(&TwinWatch::shadows, look.remote_key);
  look.mounts_tokens = look.shadow && core::mounts_tokens(*look.shadow);
  look.needs_tokens =
      look.local && !look.withdrawn && (look.mounts_tokens || core::needs_tokens(*look.local, forging_));
  if (look.needs_tokens) tokens_.watch(key.ns);
  look.knows_tokens = tokens_.has_synced(key.ns);
  look.remote = twin.find(&TwinWatch::pods, look.remote_key);
  if (!look.remote && look.local) look.remote = ended_remote(*look.local);
  return look;
}

core::PodSight PodController::Look::sight() const {
  const auto pointer = [](const std::optional<kube::Object>& object) { return object ? &*object : nullptr; };
  return {.local = pointer(local), .shadow = pointer(shadow), .remote = pointer(remote)};
}

core::PodMemory PodController::remember(const Look& look) {
  const auto& [local, shadow, remote] = std::tie(look.local, look.shadow, look.remote);
  // The Event that a container has started is written late: its namespace may be ending by then.
  if (const auto known = memory_.find(look.key); known != memory_.end() && (!local || local->is_deleting()))
    context_.events.forget_routine(known->second.uid);
  if (!local && !shadow && !remote) forget(look.key);
  if (!local) return {};
  Memory& memory = memory_of(look.key, local->uid());
  if (shadow) memory.plan.shadow_created = false;
  for (const auto* ours : {&shadow, &remote})
    if (*ours && (*ours)->annotation(api::annotations::local_pod_uid) == local->uid())
      memory.plan.seen = memory.plan.sent = true;
  memory.plan.ours_alone = is_ours_alone(*local);
  if (remote && core::is_run_of(*remote, *local, forging_.clusters)) memory.plan.remote_started = true;
  if (remote) see_placed(memory, *remote);
  memory.needs_final_phase = core::needs_final_phase(*local);
  memory.plan.shut_out = closed_ && without_room_.contains(look.key);
  memory.plan.too_large = why_too_large(look.key);
  memory.plan.order_in_doubt = context_.clock.now() < memory.in_doubt_until;
  see_ending(memory, remote ? &*remote : nullptr);
  return memory.plan;
}

void PodController::note_plan(const Look& look, const core::PodAction& plan) {
  const bool is_order = std::holds_alternative<action::CreateShadow>(plan);
  if (!is_order) wake(refused_.left(look.key));
  if (look.local && look.shadow && api::ShadowPod(*look.shadow).is_finished() &&
      !std::exchange(memory_of(look.key, look.local->uid()).freed, true))
    ask_again();
  if (!is_order) forget_refusal(look.key);
}

std::optional<kube::Duration> PodController::ending_left(const Look& look) {
  const bool may_end = look.remote && look.local && !look.local->is_deleting();
  const auto most = may_end ? core::ending_may_take(*look.remote) : std::nullopt;
  if (!most) return std::nullopt;
  return *most - memory_of(look.key, look.local->uid()).plan.remote_ending_for;
}

asio::awaitable<Outcome> PodController::reconcile_mapped(kube::ObjectKey key, std::string remote_namespace) {
  Look look = look_at(key, remote_namespace);
  const auto decide = look.withdrawn ? core::plan_withdrawn_pod : core::plan_pod;
  const core::PodPlan plan = decide(look.sight(), remember(look), forging_);
  note_plan(look, plan.action);
  std::optional<kube::Duration> left = ending_left(look);

  Progress progress;
  if (plan.confirm_first)
    if (auto end = co_await confirm_end(look)) co_return std::move(*end);
  if (auto end = co_await act(look, plan.action, progress)) co_return std::move(*end);
  if (plan.copy_status && look.local)
    if (auto end = co_await show(look, progress)) co_return std::move(*end);
  // What is overdue was done above, and its own event brings the pod back here.
  Outcome& outcome = progress.outcome;
  const std::optional<kube::Duration>& resize_left = progress.resize_left;
  if (!outcome.failure() && resize_left > 0ms && (!left || *resize_left < *left)) left = resize_left;
  if (left > 0ms && (!outcome.delay() || *outcome.delay() > *left)) co_return Outcome::again_after(*left);
  co_return std::move(outcome);
}

asio::awaitable<std::optional<Outcome>> PodController::confirm_end(const Look& look) {
  // An empty cache is not enough: the leader before this process may have offloaded the pod while this process heard
  // nothing of the provider.
  auto right = co_await confirm(look.key, look.remote_key, look.shadow ? std::string(look.shadow->uid()) : "",
                                look.remote ? std::string(look.remote->uid()) : "");
  if (!right) co_return Outcome::retry(std::move(right.error()));
  if (!*right) co_return Outcome::again_after(unseen_time);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Outcome>> PodController::act(const Look& look, const core::PodAction& plan,
                                                           Progress& progress) {
  if (std::holds_alternative<action::CreateShadow>(plan)) co_return co_await order(look, progress);
  if (std::holds_alternative<action::AwaitShadow>(plan)) co_return co_await await_shadow(look);
  if (std::holds_alternative<action::Reject>(plan)) co_return co_await reconcile_unmapped(look.key, *look.local);
  if (std::holds_alternative<action::RefuseNodeDebugger>(plan)) co_return co_await end_node_debugger(*look.local);
  kube::Result<void> done;
  if (std::holds_alternative<action::KeepShadow>(plan)) {
    done = co_await keep(look, progress);
  } else if (std::holds_alternative<action::AwaitOrder>(plan)) {
    progress.outcome =
        Outcome::again_after(memory_of(look.key, look.local->uid()).in_doubt_until - context_.clock.now());
  } else if (const auto* wait_for = std::get_if<action::AwaitEnding>(&plan)) {
    progress.outcome = Outcome::again_after(await_ending(*look.local, wait_for->seconds));
  } else {
    done = co_await end_pod(look, plan, progress);
  }
  if (!done) co_return Outcome::retry(std::move(done.error()));
  co_return std::nullopt;
}

bool PodController::is_still_wanted(const Look& look) {
  const Twin* twin = find_twin(look.key.ns);
  const auto local = local_pods_->find(look.key);
  return twin && twin->remote == look.remote_key.ns && !twin->withdrawn && local && local->uid() == look.local->uid() &&
         !local->is_deleting();
}

asio::awaitable<std::optional<Outcome>> PodController::order(const Look& look, Progress& progress) {
  if (const auto wait = wait_for_room(*look.local, look.remote_key.ns)) {
    progress.outcome = Outcome::again_after(*wait);
    co_return std::nullopt;
  }
  if (look.needs_tokens && !look.knows_tokens) co_return Outcome::done();
  auto tokens = co_await tokens_.ensure(look.key, &*look.local, look.remote_key.ns, false);
  if (!tokens) co_return Outcome::retry(std::move(tokens.error()));
  // Tokens take a while. What has changed meanwhile brings the pod back here.
  if (!is_still_wanted(look)) co_return Outcome::done();
  auto ordered = co_await create_shadow(*look.local, look.remote_key);
  if (!ordered) {
    const auto left = wait_for_room(*look.local, look.remote_key.ns);
    if (!left) co_return Outcome::retry(std::move(ordered.error()));
    if (Twin* refused = find_twin(look.key.ns)) refused->counters.add_failed(series_of(look.key.ns));
    co_return Outcome::again_after(*left);
  }
  // The new ShadowPod's event brings the pod back here. A ShadowPod that existed already may be missing in a late
  // cache.
  const Twin* twin = find_twin(look.key.ns);
  if (twin && !twin->contains(&TwinWatch::shadows, look.remote_key))
    progress.outcome = Outcome::again_after(unseen_time);
  co_return std::nullopt;
}

asio::awaitable<Outcome> PodController::await_shadow(const Look& look) {
  const kube::Duration waited = context_.clock.now() - memory_of(look.key, look.local->uid()).shadow_created_at;
  if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
  auto live = co_await provider_.api.get(api::kinds::shadow_pods, look.remote_key);
  auto* cache = cache_of(look.key.ns, look.remote_key.ns, &TwinWatch::shadows);
  if (live && cache) cache->observe(std::move(*live));
  if (!live && live.error().is_not_found()) memory_of(look.key, look.local->uid()).plan.shadow_created = false;
  if (!live && !live.error().is_not_found())
    co_return Outcome::retry(std::move(live.error()).in("looking whether the ShadowPod is there"));
  co_return Outcome::again_after(0ms);
}

asio::awaitable<kube::Result<void>> PodController::keep(const Look& look, Progress& progress) {
  auto updated = co_await update_shadow(*look.local, *look.shadow);
  if (!updated) co_return std::unexpected(std::move(updated.error()));
  progress.is_sent = !*updated;
  // A failure below does not keep the status from being written.
  if (look.remote) {
    auto added = co_await add_ephemeral(*look.local, look.remote_key, *look.remote);
    if (!added)
      progress.outcome = Outcome::retry(std::move(added.error()));
    else
      progress.ephemeral_refusal = std::move(*added);
    co_await keep_size(look, progress);
    const bool is_refused = !progress.resize_refusal.words.empty() || !progress.ephemeral_refusal.empty();
    progress.is_sent = progress.is_sent && (is_refused || core::has_sent(*look.local, *look.shadow));
    if (const Memory& memory = memory_of(look.key, look.local->uid()); !memory.refused_resize.empty())
      progress.resize_left = memory.resize_again_at - context_.clock.now();
  }
  if (look.mounts_tokens) {
    auto tokens = co_await tokens_.ensure(look.key, &*look.local, look.remote_key.ns, true);
    // A pod that runs goes on with the tokens that it has.
    if (!tokens) {
      progress.outcome = Outcome::retry(std::move(tokens.error()));
    } else if (*tokens && !progress.outcome.failure()) {
      progress.outcome = Outcome::again_after(**tokens);
    }
  }
  co_return kube::Result<void>();
}

asio::awaitable<void> PodController::keep_size(const Look& look, Progress& progress) {
  if (core::asks_otherwise(look.local->spec(), api::ShadowPod(*look.shadow).pod_spec())) {
    auto resized = co_await resize_shadow(*look.local, look.remote_key, *look.remote);
    if (resized) progress.resize_refusal = std::move(*resized);
    if (!resized && !progress.outcome.failure()) progress.outcome = Outcome::retry(std::move(resized.error()));
    co_return;
  }
  // The provider has the amounts of the pod: whether they were carried out is told by the remote pod.
  memory_of(look.key, look.local->uid()).refused_resize.clear();
  note_resize(look.key, false);
  see_resize(*look.local, *look.shadow, *look.remote);
  progress.resize_refusal.words = core::resize_left_out(*look.remote);
}

asio::awaitable<kube::Result<void>> PodController::end_pod(const Look& look, const core::PodAction& plan,
                                                           Progress& progress) {
  kube::Result<void> done;
  if (const auto* refuse = std::get_if<action::RefuseForeign>(&plan)) {
    if (!look.local) co_return done;
    auto wanted = core::forge_refusal(*look.local, reasons::failed_reflection, refuse->message, context_.clock.wall());
    done = co_await write_status(*look.local, std::move(wanted));
    context_.events.warning(*look.local, kube::resources::pods, reasons::failed_reflection, refuse->message);
  } else if (const auto* tell = std::get_if<action::TellGrace>(&plan)) {
    // The patience counts from the first try: the pod has to end whatever the provider answers.
    if (await_ending(*look.local, tell->seconds) > 0ms)
      done = co_await tell_grace(look.key, *look.shadow, tell->seconds);
    progress.outcome = Outcome::again_after(0ms);
  } else if (const auto* remove = std::get_if<action::DeleteShadow>(&plan)) {
    done = co_await delete_shadow(look.key, look.remote_key, *remove);
  } else if (std::holds_alternative<action::RemoveLocal>(plan)) {
    done = co_await remove_local(*look.local);
    if (!done && !done.error().is_conflict())
      context_.events.warning(*look.local, kube::resources::pods, reasons::failed_deletion, done.error().text());
  } else if (const auto* evict = std::get_if<action::EvictLocal>(&plan)) {
    done = co_await evict_local(*look.local, look.remote_key, *evict);
  } else if (const auto* fail = std::get_if<action::FailLocal>(&plan)) {
    auto wanted = core::forge_rejection(
        *look.local,
        {.phase = "Failed", .reason = fail->reason, .message = fail->message, .never_ran = fail->never_ran},
        context_.clock.wall());
    done = co_await write_status(*look.local, std::move(wanted));
    if (done) context_.events.warning(*look.local, kube::resources::pods, fail->reason, fail->message);
  } else if (!look.local && !look.withdrawn) {
    auto tokens = co_await tokens_.ensure(look.key, nullptr, look.remote_key.ns, false);
    if (!tokens) done = std::unexpected(std::move(tokens.error()));
  }
  co_return done;
}

asio::awaitable<std::optional<Outcome>> PodController::show(Look& look, Progress& progress) {
  const kube::Object& local = *look.local;
  const kube::Object* remote = look.remote ? &*look.remote : nullptr;
  if (remote) {
    if (auto wait = status_waits(look, progress)) co_return std::move(*wait);
    tell_left_out(local, *remote);
  }
  const core::StatusContext status_context{
      .provider = forging_.clusters.remote,
      .node_ip = context_.settings.nodes.node_ip,
      .addresses = addresses_ ? &*addresses_ : nullptr,
      .reflect_ips = context_.settings.offloading.reflect_ips,
      .warning = warnings_.words(local),
      .ephemeral_refusal = std::move(progress.ephemeral_refusal),
      .is_sent = progress.is_sent,
      .resize_refusal = std::move(progress.resize_refusal),
      .api_server_trouble = core::api_server_trouble(local, forging_, look.mounts_tokens)};
  auto wanted =
      core::forge_local_status({.local = local, .remote = remote, .shadow = look.shadow ? &*look.shadow : nullptr},
                               status_context, context_.clock.wall());
  if (!wanted) co_return std::nullopt;
  const std::string refusal(core::refusal_told(wanted->status)), warning(core::warning_told(wanted->status));
  if (!wanted->left_out.empty()) tell_address_left_out(local, wanted->left_out);
  if (auto body = plan_status(local, *wanted)) {
    if (const auto wait = take_turn(local, stored_bytes(*local_pods_, look.key, body->size())); wait > 0ms)
      co_return sooner(progress.outcome, wait);
    // What the provider shows may be large, and the server at home slow.
    look.remote.reset();
    look.shadow.reset();
    auto written = co_await send_status(local, *wanted, std::move(*body));
    if (!written) co_return Outcome::retry(std::move(written.error()));
  }
  tell_refusal(local, refusal);
  warnings_.tell(local, warning);
  co_return std::nullopt;
}

std::optional<Outcome> PodController::status_waits(const Look& look, const Progress& progress) {
  warnings_.see(*look.local, *look.remote);
  Memory& memory = memory_of(look.key, look.local->uid());
  const kube::TimePoint now = context_.clock.now();
  if (!memory.remote_seen_at) memory.remote_seen_at = now;
  auto left = core::status_may_wait(*look.local, *look.remote, now - *memory.remote_seen_at);
  const bool may_wait =
      progress.ephemeral_refusal.empty() && progress.resize_refusal.words.empty() && !progress.outcome.failure();
  if (may_wait && left == 0ms && !budget_.asides.try_take()) left = core::starting_time;
  if (!may_wait || left <= 0ms) return std::nullopt;
  return sooner(progress.outcome, *left);
}

void PodController::tell_left_out(const kube::Object& local, const kube::Object& remote) {
  // The local pod records which remote pod it shows, so a restart of this process does not repeat the Event.
  if (local.annotation(api::annotations::remote_pod_uid) == remote.uid()) return;
  const auto things = core::left_out_of(local, remote);
  Memory& memory = memory_of(local.key(), local.uid());
  if (things.empty() || std::exchange(memory.told_left_out, true)) return;
  context_.events.warning(local, kube::resources::pods, reasons::left_out,
                          core::describe_left_out(things, forging_.clusters.remote));
}

}  // namespace liqo::controllers
