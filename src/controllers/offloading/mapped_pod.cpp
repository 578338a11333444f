#include "controllers/offloading/mapped_pod.hpp"

#include <tuple>
#include <utility>

#include "core/offloading/final_status.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/offloading/token_audiences.hpp"
#include "kube/client/find_live.hpp"
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
/// The pause while another pod looks for Secrets with tokens of service accounts.
constexpr kube::Duration looking_pause = 200ms;

/// The Outcome of a reconcile that would end with this one, but has something to do after that time.
Outcome sooner(const Outcome& outcome, kube::Duration wait) {
  const auto& delay = outcome.delay();
  return outcome.failure() || (delay && *delay < wait) ? outcome : Outcome::again_after(wait);
}

const kube::Object* pointer(const std::optional<kube::Object>& object) { return object ? &*object : nullptr; }

}  // namespace

MappedPod::MappedPod(const Services& services, const kube::ObjectKey& key, const std::string& remote_namespace)
    : services_(services), seen_{.key = key, .remote_key = {remote_namespace, key.name}} {
  const PodTwin& twin = *services_.twins.find(key.ns);
  const OffloadingNode& node = services_.node;
  seen_.withdrawn = twin.withdrawn;
  seen_.local = node.local_pods->find(key);
  seen_.shadow = twin.find(&TwinWatch::shadows, seen_.remote_key);
  if (seen_.shadow) seen_.mounted = core::mounted_tokens(*seen_.shadow);
  seen_.needs_tokens =
      seen_.local && !seen_.withdrawn && (!seen_.mounted.empty() || core::needs_tokens(*seen_.local, node.forging));
  if (seen_.needs_tokens) services_.tokens.watch(key.ns);
  seen_.knows_tokens = services_.tokens.has_synced(key.ns);
  seen_.remote = twin.find(&TwinWatch::pods, seen_.remote_key);
  if (!seen_.remote && seen_.local) seen_.remote = services_.ends.last_remote(*seen_.local);
}

core::PodSight MappedPod::Snapshot::sight() const {
  return {.local = pointer(local), .shadow = pointer(shadow), .remote = pointer(remote)};
}

core::PodMemory MappedPod::remember() {
  const auto& [local, shadow, remote] = std::tie(seen_.local, seen_.shadow, seen_.remote);
  OffloadingNode& node = services_.node;
  // The Event that a container has started is written late: its namespace may be ending by then.
  if (const RememberedPod* known = node.memory.find(seen_.key); known && (!local || local->is_deleting()))
    node.context.events.forget_routine(known->uid);
  if (!local && !shadow && !remote) services_.ends.forget(seen_.key);
  if (!local) return {};
  RememberedPod& pod = memory();
  core::PodMemory& plan = pod.plan;
  if (shadow) plan.shadow_created = false;
  for (const auto* ours : {&shadow, &remote})
    if (*ours && (*ours)->annotation(api::annotations::local_pod_uid) == local->uid()) plan.seen = plan.sent = true;
  plan.ours_alone = node.is_ours_alone(*local);
  if (remote && core::is_run_of(*remote, *local, node.forging.clusters)) plan.remote_started = true;
  if (remote) node.see_placed(pod, *remote);
  pod.ending.see_local(core::needs_final_phase(*local));
  plan.shut_out = services_.room.is_shut_out(seen_.key);
  plan.too_large = services_.room.why_too_large(seen_.key);
  plan.order_in_doubt = now() < pod.in_doubt_until;
  pod.ending.see(pointer(remote), now());
  plan.remote_ending_for = pod.ending.lasts();
  plan.grace_given_up = pod.ending.given_up();
  return plan;
}

void MappedPod::note_plan(const core::PodAction& plan) {
  const bool is_order = std::holds_alternative<action::CreateShadow>(plan);
  if (!is_order) services_.refused.left(seen_.key);
  if (seen_.local && seen_.shadow && api::ShadowPod(*seen_.shadow).is_finished() &&
      !std::exchange(memory().freed, true))
    services_.refused.ask_again();
  if (!is_order) services_.room.remove(seen_.key);
}

asio::awaitable<Outcome> MappedPod::reconcile() {
  const auto decide = seen_.withdrawn ? core::plan_withdrawn_pod : core::plan_pod;
  const core::PodPlan plan = decide(seen_.sight(), remember(), services_.node.forging);
  note_plan(plan.action);
  std::optional<kube::Duration> left;
  if (seen_.local && seen_.remote) left = memory().ending.left(*seen_.local, *seen_.remote);

  if (plan.confirm_first)
    if (auto end = co_await confirm_end()) co_return std::move(*end);
  if (auto end = co_await act(plan.action)) co_return std::move(*end);
  if (plan.copy_status && seen_.local)
    if (auto end = co_await show()) co_return std::move(*end);
  // Overdue work was done above, and its own event enqueues the pod.
  Outcome& outcome = progress_.outcome;
  const std::optional<kube::Duration>& resize_left = progress_.resize_left;
  if (!outcome.failure() && resize_left > 0ms && (!left || *resize_left < *left)) left = resize_left;
  if (left > 0ms && (!outcome.delay() || *outcome.delay() > *left)) co_return Outcome::again_after(*left);
  co_return std::move(outcome);
}

asio::awaitable<std::optional<Outcome>> MappedPod::confirm_end() {
  // An empty cache is not enough: the previous leader may have offloaded the pod while this process saw nothing of the
  // provider.
  KUBE_CO_TRY(right, co_await services_.ends.confirm(seen_.key, seen_.remote_key,
                                                     seen_.shadow ? std::string(seen_.shadow->uid()) : "",
                                                     seen_.remote ? std::string(seen_.remote->uid()) : ""));
  if (!right) co_return Outcome::again_after(unseen_time);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Outcome>> MappedPod::act(const core::PodAction& plan) {
  if (std::holds_alternative<action::CreateShadow>(plan)) co_return co_await order();
  if (std::holds_alternative<action::AwaitShadow>(plan)) co_return co_await await_shadow();
  if (std::holds_alternative<action::Reject>(plan))
    co_return co_await services_.unmapped.reconcile(seen_.key, *seen_.local);
  if (std::holds_alternative<action::RefuseNodeDebugger>(plan))
    co_return co_await services_.unmapped.end_node_debugger(*seen_.local);
  kube::Result<void> done;
  if (std::holds_alternative<action::KeepShadow>(plan)) {
    done = co_await keep();
  } else if (std::holds_alternative<action::AwaitOrder>(plan)) {
    progress_.outcome = Outcome::again_after(memory().in_doubt_until - now());
  } else if (const auto* wait_for = std::get_if<action::AwaitEnding>(&plan)) {
    progress_.outcome = Outcome::again_after(memory().ending.await_begin(wait_for->seconds, now()));
  } else {
    done = co_await end(plan);
  }
  if (!done) co_return Outcome::retry(std::move(done.error()));
  co_return std::nullopt;
}

bool MappedPod::is_still_wanted() {
  const PodTwin* twin = services_.twins.find(seen_.key.ns);
  const auto local = services_.node.local_pods->find(seen_.key);
  return twin && twin->remote == seen_.remote_key.ns && !twin->withdrawn && local &&
         local->uid() == seen_.local->uid() && !local->is_deleting();
}

asio::awaitable<std::optional<Outcome>> MappedPod::order() {
  services_.daemon_sets.see(*seen_.local);
  if (const auto wait = services_.orders.wait_for_room(*seen_.local, seen_.remote_key.ns)) {
    progress_.outcome = Outcome::again_after(*wait);
    co_return std::nullopt;
  }
  if (auto end = co_await learn_audiences()) co_return std::move(*end);
  if (auto end = co_await refuse_hopeless()) co_return std::move(*end);
  if (seen_.needs_tokens && !seen_.knows_tokens) co_return Outcome::done();
  auto owner = co_await services_.orders.owner_in(seen_.remote_key.ns);
  KUBE_CO_TRY(wait, co_await prepare_files());
  if (wait) co_return Outcome::again_after(*wait);
  if (!is_still_wanted()) co_return Outcome::done();
  KUBE_CO_TRYV(co_await services_.tokens.ensure(seen_.key, &*seen_.local, seen_.remote_key.ns, {}));
  // Tokens take a while. A change meanwhile enqueues the pod.
  if (!is_still_wanted()) co_return Outcome::done();
  auto ordered = co_await services_.orders.create(*seen_.local, seen_.remote_key, std::move(owner));
  if (!ordered) co_return not_ordered(std::move(ordered.error()));
  co_await services_.missing_tokens.see(*seen_.local, services_.node.forging);
  // The new ShadowPod's event enqueues the pod. A ShadowPod that existed already may be missing in a stale cache.
  const PodTwin* twin = services_.twins.find(seen_.key.ns);
  if (twin && !twin->contains(&TwinWatch::shadows, seen_.remote_key))
    progress_.outcome = Outcome::again_after(unseen_time);
  co_return std::nullopt;
}

Outcome MappedPod::not_ordered(kube::Failure failure) {
  const auto left = services_.orders.wait_for_room(*seen_.local, seen_.remote_key.ns);
  if (!left) return Outcome::retry(std::move(failure));
  services_.twins.count_failed(seen_.key.ns);
  return Outcome::again_after(*left);
}

asio::awaitable<std::optional<Outcome>> MappedPod::learn_audiences() {
  const core::ForgingContext& forging = services_.node.forging;
  if (!core::depends_on_audiences(*seen_.local, forging)) co_return std::nullopt;
  KUBE_CO_TRYV(co_await services_.home_tokens.learn_audiences(*seen_.local, forging.clusters));
  // Another pod is asking.
  if (services_.home_tokens.audiences().empty()) co_return Outcome::again_after(1s);
  if (!is_still_wanted()) co_return Outcome::done();
  seen_.needs_tokens = core::needs_tokens(*seen_.local, forging);
  if (seen_.needs_tokens) services_.tokens.watch(seen_.key.ns);
  seen_.knows_tokens = services_.tokens.has_synced(seen_.key.ns);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Outcome>> MappedPod::refuse_hopeless() {
  std::string why = core::excess_of_tokens(*seen_.local, services_.node.forging);
  if (why.empty()) why = core::excess_of_certificates(*seen_.local, services_.node.forging);
  if (why.empty()) {
    KUBE_CO_TRY(held, co_await services_.token_secrets.why_refused(*seen_.local, seen_.remote_key.ns));
    if (!held) co_return Outcome::again_after(looking_pause);
    why = std::move(*held);
    if (!is_still_wanted()) co_return Outcome::done();
  }
  if (why.empty()) co_return std::nullopt;
  auto refused = co_await services_.orders.refuse_here(*seen_.local, seen_.remote_key, std::move(why));
  co_return not_ordered(std::move(refused.error()));
}

asio::awaitable<Outcome> MappedPod::await_shadow() {
  const kube::Duration waited = now() - memory().shadow_created_at;
  if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
  KUBE_CO_TRY(live, co_await kube::find_live(services_.node.provider.api, api::kinds::shadow_pods, seen_.remote_key),
              "looking whether the ShadowPod is there");
  auto* cache = services_.twins.cache_of(seen_.key.ns, seen_.remote_key.ns, &TwinWatch::shadows);
  if (!live)
    memory().plan.shadow_created = false;
  else if (cache)
    cache->observe(std::move(*live));
  co_return Outcome::again_after(0ms);
}

asio::awaitable<kube::Result<void>> MappedPod::keep() {
  KUBE_CO_TRY(updated, co_await services_.orders.update(*seen_.local, *seen_.shadow));
  progress_.is_sent = !updated;
  // A failure below does not keep the status from being written.
  if (seen_.remote) {
    auto added = co_await services_.orders.add_ephemeral(*seen_.local, seen_.remote_key, *seen_.remote);
    if (!added)
      progress_.outcome = Outcome::retry(std::move(added.error()));
    else
      progress_.ephemeral_refusal = std::move(*added);
    co_await keep_size();
    const bool is_refused = !progress_.resize_refusal.words.empty() || !progress_.ephemeral_refusal.empty();
    progress_.is_sent = progress_.is_sent && (is_refused || core::has_sent(*seen_.local, *seen_.shadow));
    if (const auto left = memory().refused.resize_left(now())) progress_.resize_left = left;
  }
  if (!seen_.mounted.empty()) co_await keep_tokens();
  co_await keep_files();
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> MappedPod::prepare_files() {
  KUBE_CO_TRY(for_trust, co_await services_.trust.prepare(*seen_.local, seen_.remote_key.ns));
  if (for_trust) co_return for_trust;
  co_return co_await services_.certificates.prepare(*seen_.local, seen_.remote_key.ns);
}

asio::awaitable<void> MappedPod::keep_files() {
  // A running pod goes on with what it has.
  const auto take = [this](kube::Result<std::optional<kube::Duration>> look) {
    if (!look && !progress_.outcome.failure()) progress_.outcome = Outcome::retry(std::move(look.error()));
    if (look && *look) progress_.outcome = sooner(progress_.outcome, **look);
  };
  take(co_await services_.trust.keep(*seen_.local, *seen_.shadow));
  take(co_await services_.certificates.keep(*seen_.local, *seen_.shadow));
}

asio::awaitable<void> MappedPod::keep_tokens() {
  // Which of them the pod may have may depend on the audiences.
  if (auto end = co_await learn_audiences()) {
    if (!progress_.outcome.failure()) progress_.outcome = std::move(*end);
    co_return;
  }
  auto tokens = co_await services_.tokens.ensure(seen_.key, &*seen_.local, seen_.remote_key.ns, seen_.mounted);
  // A running pod goes on with the tokens that it has.
  if (!tokens) {
    progress_.outcome = Outcome::retry(std::move(tokens.error()));
  } else if (*tokens && !progress_.outcome.failure()) {
    progress_.outcome = Outcome::again_after(**tokens);
  }
}

asio::awaitable<void> MappedPod::keep_size() {
  if (core::asks_otherwise(seen_.local->spec(), api::ShadowPod(*seen_.shadow).pod_spec())) {
    auto resized = co_await services_.orders.resize(*seen_.local, seen_.remote_key, *seen_.remote);
    if (resized) progress_.resize_refusal = std::move(*resized);
    if (!resized && !progress_.outcome.failure()) progress_.outcome = Outcome::retry(std::move(resized.error()));
    co_return;
  }
  // The provider has the resources of the pod: the remote pod shows whether the resize was carried out.
  services_.orders.note_resized(*seen_.local, *seen_.shadow, *seen_.remote);
  progress_.resize_refusal.words = core::resize_left_out(*seen_.remote);
}

asio::awaitable<kube::Result<void>> MappedPod::end(const core::PodAction& plan) {
  kube::Result<void> done;
  if (const auto* refuse = std::get_if<action::RefuseForeign>(&plan)) {
    if (seen_.local) done = co_await refuse_foreign(*refuse);
  } else if (const auto* send = std::get_if<action::SendGrace>(&plan)) {
    // The waiting time counts from the first try: the pod has to end whatever the provider answers.
    if (memory().ending.await_begin(send->seconds, now()) > 0ms)
      done = co_await services_.ends.send_grace(seen_.key, *seen_.shadow, send->seconds);
    progress_.outcome = Outcome::again_after(0ms);
  } else if (const auto* remove = std::get_if<action::DeleteShadow>(&plan)) {
    done = co_await services_.ends.delete_shadow(seen_.key, seen_.remote_key, *remove);
  } else if (std::holds_alternative<action::RemoveLocal>(plan)) {
    done = co_await services_.ends.remove_local(*seen_.local);
    if (!done && !done.error().is_conflict())
      services_.node.warn(*seen_.local, reasons::failed_deletion, done.error().text());
  } else if (const auto* evict = std::get_if<action::EvictLocal>(&plan)) {
    done = co_await services_.ends.evict_local(*seen_.local, seen_.remote_key, *evict);
  } else if (const auto* failed = std::get_if<action::FailLocal>(&plan)) {
    done = co_await fail_local(*failed);
  } else if (!seen_.local && !seen_.withdrawn) {
    auto tokens = co_await services_.tokens.ensure(seen_.key, nullptr, seen_.remote_key.ns, {});
    if (!tokens) done = std::unexpected(std::move(tokens.error()));
    if (done) done = co_await services_.certificates.remove(seen_.key, seen_.remote_key.ns);
  }
  co_return done;
}

asio::awaitable<kube::Result<void>> MappedPod::refuse_foreign(const action::RefuseForeign& action) {
  const OffloadingNode& node = services_.node;
  auto done = co_await services_.statuses.write(
      *seen_.local,
      core::forge_refusal(*seen_.local, reasons::failed_reflection, action.message, node.context.clock.wall()));
  services_.node.warn(*seen_.local, reasons::failed_reflection, action.message);
  co_return done;
}

asio::awaitable<kube::Result<void>> MappedPod::fail_local(const action::FailLocal& action) {
  auto wanted = core::forge_rejection(
      *seen_.local,
      {.phase = "Failed", .reason = action.reason, .message = action.message, .never_ran = action.never_ran},
      services_.node.context.clock.wall());
  auto done = co_await services_.statuses.write(*seen_.local, std::move(wanted));
  if (done) services_.node.warn(*seen_.local, action.reason, action.message);
  co_return done;
}

asio::awaitable<std::optional<Outcome>> MappedPod::show() {
  const OffloadingNode& node = services_.node;
  const kube::Object& local = *seen_.local;
  if (seen_.remote) {
    if (auto wait = status_waits()) co_return std::move(*wait);
    services_.statuses.report_left_out(local, *seen_.remote);
  }
  const core::StatusContext status_context{
      .provider = node.cluster(),
      .node_ip = node.context.settings.nodes.node_ip,
      .addresses = services_.statuses.addresses(),
      .reflect_ips = node.context.settings.offloading.reflect_ips,
      .warning = services_.warnings.words(local),
      .ephemeral_refusal = std::move(progress_.ephemeral_refusal),
      .is_sent = progress_.is_sent,
      .resize_refusal = std::move(progress_.resize_refusal),
      .api_server_trouble =
          core::api_server_trouble(local, node.forging, core::mounts_home_token(local, seen_.mounted, node.forging))};
  auto wanted =
      core::forge_local_status({.local = local, .remote = pointer(seen_.remote), .shadow = pointer(seen_.shadow)},
                               status_context, node.context.clock.wall());
  if (!wanted) co_return std::nullopt;
  const std::string refusal(core::reported_refusal(wanted->status)), warning(core::reported_warning(wanted->status));
  if (!wanted->left_out.empty()) services_.statuses.report_address_left_out(local, wanted->left_out);
  if (auto body = services_.statuses.plan(local, *wanted)) {
    if (const auto wait = services_.statuses.take_turn(local, body->size()); wait > 0ms)
      co_return sooner(progress_.outcome, wait);
    // The provider's objects may be large, and the server at home slow.
    seen_.remote.reset();
    seen_.shadow.reset();
    KUBE_CO_TRYV(co_await services_.statuses.send(local, *wanted, std::move(*body)));
  }
  services_.orders.report_refusal(local, refusal);
  services_.warnings.report(local, warning);
  co_return std::nullopt;
}

std::optional<Outcome> MappedPod::status_waits() {
  services_.warnings.see(*seen_.local, *seen_.remote);
  RememberedPod& pod = memory();
  const kube::TimePoint at = now();
  if (!pod.remote_seen_at) pod.remote_seen_at = at;
  auto left = core::status_may_wait(*seen_.local, *seen_.remote, at - *pod.remote_seen_at);
  const bool may_wait = progress_.ephemeral_refusal.empty() && progress_.resize_refusal.words.empty() &&
                        !progress_.outcome.failure() && !services_.trust.is_waiting(seen_.key);
  if (may_wait && left == 0ms && !services_.node.budget.best_effort.try_take()) left = core::starting_time;
  if (!may_wait || left <= 0ms) return std::nullopt;
  return sooner(progress_.outcome, *left);
}

}  // namespace liqo::controllers
