// What a ShadowPodController does about one ShadowPod and its pod.
#include "controllers/common/known.hpp"
#include "controllers/offloading/shadow_pod.hpp"
#include "core/namespaces/twin_pod_bounds.hpp"
#include "core/offloading/capacity.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/provider_pod.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace action = core::shadow_action;

constexpr kube::Duration unseen_time = 5s;
/// The bounds of a twin follow the pods that need them within moments: only a longer wait is told.
constexpr kube::Duration share_patience = 3s, counting_patience = 30s;
/// The least time between two Events that a pod finds no room in the bounds.
constexpr kube::Duration told_short_pause = 1min;
constexpr kube::Duration cache_pause = 200ms;
/// A refused resize is tried again after this time: nodes and bounds change.
constexpr kube::Duration resize_pause = 1min;
/// On a ShadowPod that came late.
constexpr std::string_view order_expired = "OrderExpired";

}  // namespace

asio::awaitable<kube::Result<void>> ShadowPodController::release(const kube::Object& pod, bool confirm_first) {
  const kube::ObjectKey key = pod.key();
  const std::string uid(pod.uid());
  // The watch tells when it has gone; a second patch would find nothing.
  if (!core::is_tracked(pod) || released_[key] == uid) co_return kube::Result<void>();
  kube::Api& home = context_.home.api();
  if (confirm_first) {
    auto live = co_await home.get(api::kinds::shadow_pods, key);
    if (!live && !live.error().is_not_found())
      co_return kube::fail(std::move(live.error()), "reading the ShadowPod of a pod");
    const auto controller = pod.controller();
    if (live && controller && controller->uid == live->uid()) co_return kube::Result<void>();
  }
  auto patched = co_await home.patch(
      kube::resources::pods, key, {kube::PatchType::strategic_merge, kube::json::serialize(core::release_patch(pod))});
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "releasing the pod");
  if (patched) released_[key] = uid;
  // The last finalizer of a deleted pod ends it: the answer would bring it back into the cache.
  if (patched && !patched->is_deleting()) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> ShadowPodController::take_refusal(const kube::Object& shadow, kube::Failure failure) {
  const kube::ObjectKey key = shadow.key();
  const bool is_short = failure.is_forbidden() && failure.text().contains(core::twin_pods_quota_name);
  if (is_short) {
    Memory& memory = memory_[key];
    if (!memory.waits_since) memory.waits_since = context_.clock.now();
    if (context_.clock.now() - *memory.waits_since < share_patience) co_return Outcome::again_after(share_patience);
    // The figures in the refusal change all the time, and each would be another Event.
    const kube::TimePoint now = context_.clock.now();
    const bool was_told = memory.told_short && now - *memory.told_short < told_short_pause;
    if (was_told) co_return Outcome::retry(std::move(failure));
    memory.told_short = now;
  }
  if (failure.is_permanent()) {
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, failure.text());
    auto told = co_await tell(shadow, core::refusal_words(failure));
    if (!told) co_return Outcome::retry(std::move(told.error()));
  }
  co_return Outcome::retry(std::move(failure));
}

asio::awaitable<kube::Result<void>> ShadowPodController::add_ephemeral(const kube::Object& shadow,
                                                                       const kube::Object& pod,
                                                                       core::EphemeralAddition addition) {
  kube::Api& home = context_.home.api();
  auto patched = co_await home.patch(kube::resources::pods, pod.key(),
                                     {kube::PatchType::strategic_merge, kube::json::serialize(addition.patch)},
                                     {.subresource = "ephemeralcontainers"});
  // A lack of our own rights is not noted: they may be granted.
  if (!patched && patched.error().is_permanent() && !patched.error().is_not_found() &&
      !core::is_for_lack_of_rights(patched.error())) {
    const std::string words = core::refusal_words(patched.error());
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                            "the ephemeral container " + addition.name + " is refused: " + words);
    patched = co_await home.patch(kube::resources::pods, pod.key(),
                                  {kube::PatchType::strategic_merge,
                                   kube::json::serialize(core::ephemeral_refusal_patch(pod, addition.name, words))});
    // Where there is no room for the note, the next change of the Pod asks again.
    if (!patched && patched.error().is_permanent()) co_return kube::Result<void>();
  }
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "adding an ephemeral container to the pod");
  if (patched) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> ShadowPodController::resize(const kube::Object& shadow,
                                                                                         const kube::Object& pod,
                                                                                         core::PodResize plan) {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key = shadow.key();
  const std::string digest = core::resources_digest(api::ShadowPod(shadow).pod_spec());
  if (const Memory& memory = memory_[key]; memory.resize_refused == digest)
    if (const kube::Duration left = memory.resize_again_at - context_.clock.now(); left > 0ms) {
      if (memory.resize_short) short_[key.ns].insert(key);
      co_return left;
    }
  kube::json::object note;
  if (auto* only = std::get_if<core::resize_action::Note>(&plan)) note = std::move(only->patch);
  if (auto* begin = std::get_if<core::resize_action::Begin>(&plan)) note = std::move(begin->patch);
  if (auto* apply = std::get_if<core::resize_action::Apply>(&plan)) {
    note = std::move(apply->done);
    auto patched = co_await home.patch(kube::resources::pods, key,
                                       {kube::PatchType::strategic_merge, kube::json::serialize(apply->patch)},
                                       {.subresource = "resize"});
    // What webhooks made of the resize is noted as done, or each change of the Pod would ask for it again.
    if (patched) {
      memory_[key].resize_refused.clear();
      pods_->observe(std::move(*patched));
    } else {
      const kube::Failure& failure = patched.error();
      const bool is_unknown = core::is_without_resize(failure);
      if (failure.is_not_found() && !is_unknown) co_return std::nullopt;
      if (!failure.is_permanent()) co_return kube::fail(std::move(patched.error()), "resizing the pod");
      const std::string words = is_unknown ? std::string(core::without_resize) : core::refusal_words(failure);
      Memory& memory = memory_[key];
      memory.resize_again_at = context_.clock.now() + resize_pause;
      // Once: how the words change while it is refused the note tells.
      if (std::exchange(memory.resize_refused, digest) != digest)
        context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                                "the resize is refused: " + words);
      memory.resize_short = failure.is_forbidden() && failure.text().contains(core::twin_pods_quota_name);
      if (memory.resize_short) short_[key.ns].insert(key);
      auto refused = core::resize_refusal_patch(shadow, pod, words);
      if (!refused) co_return resize_pause;
      note = std::move(*refused);
    }
  }
  auto noted = co_await kube::merge_patch(home, *pods_, key,
                                          {.body = kube::json::serialize(note),
                                           .phase = "noting what the pod was resized to",
                                           .type = kube::PatchType::strategic_merge});
  if (!noted) co_return std::unexpected(std::move(noted.error()));
  co_return std::nullopt;
}

asio::awaitable<Outcome> ShadowPodController::await_bounds(const kube::Object& shadow) {
  const kube::ObjectKey key = shadow.key();
  short_[key.ns].insert(key);
  Memory& memory = memory_[key];
  if (!memory.waits_since) memory.waits_since = context_.clock.now();
  const kube::Duration waited = context_.clock.now() - *memory.waits_since;
  if (waited < counting_patience) co_return Outcome::again_after(counting_patience - waited);
  auto told = co_await tell(shadow, "nobody counts the pods of its namespace (ResourceQuota " +
                                        std::string(core::twin_pods_quota_name) +
                                        "), which the provider's liqod and kube-controller-manager do");
  if (!told) co_return Outcome::retry(std::move(told.error()));
  co_return Outcome::again_after(counting_patience);
}

asio::awaitable<Outcome> ShadowPodController::release_orphan(kube::ObjectKey key, std::string last) {
  // The garbage collector deletes the pod; here it only loses our finalizer.
  auto pod = pods_->find(key);
  if (!pod) co_return Outcome::done();
  const auto controller = pod->controller();
  const bool was_seen = controller && controller->uid == last;
  auto released = co_await release(*pod, !was_seen);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::forget(kube::ObjectKey key) {
  std::string last;
  if (const auto known = memory_.find(key); known != memory_.end()) last = known->second.uid;
  unrecorded_.erase(key);
  auto outcome = co_await release_orphan(key, std::move(last));
  if (!outcome.failure()) memory_.erase(key);
  co_return outcome;
}

void ShadowPodController::remember(const kube::Object& shadow, const kube::Object* pod) {
  Memory& memory = memory_[shadow.key()];
  if (memory.uid != shadow.uid()) memory = Memory{.uid = std::string(shadow.uid())};
  if (pod) core::see_pod(memory.plan, shadow, *pod);
  const kube::Duration awaited = context_.clock.now() - memory.awaited_since;
  memory.plan.node_silent = pod && memory.awaited == pod->uid() && awaited >= core::node_patience;
  memory.plan.create_in_doubt = context_.clock.now() < memory.in_doubt_until;
  memory.plan.inherited = is_inherited(shadow);
}

asio::awaitable<std::expected<core::IpMapping, Outcome>> ShadowPodController::await_mapping(
    const kube::Object& shadow) {
  if (!is_known_or_forbidden(*configurations_)) co_return std::unexpected(Outcome::again_after(cache_pause));
  auto read = api_server_mapping(shadow);
  if (read) co_return std::move(*read);
  auto told =
      co_await tell(shadow, "the address of the API server of its home is not known here: " + read.error().text());
  co_return std::unexpected(told ? Outcome::again_after(30s) : Outcome::retry(std::move(told.error())));
}

asio::awaitable<Outcome> ShadowPodController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  auto shadow = shadows_->find(key);
  auto pod = pods_->find(key);
  if (!pod) released_.erase(key);
  stop_waiting(key);
  if (!shadow) co_return co_await forget(key);
  remember(*shadow, pod ? &*pod : nullptr);

  core::IpMapping mapping;
  if (!pod && !shadow->is_deleting() && !core::home_api_server_addresses(*shadow).empty()) {
    auto read = co_await await_mapping(*shadow);
    if (!read) co_return std::move(read.error());
    mapping = std::move(*read);
  }
  Look look{.shadow = std::move(*shadow), .pod = std::move(pod), .plan = {}};
  look.plan = core::plan_shadow_pod(look.sight(), memory_[key].plan, &mapping, policy_of(key.ns));
  co_return co_await carry_out(look);
}

asio::awaitable<Outcome> ShadowPodController::carry_out(Look& look) {
  return std::visit([&](auto& part) { return act(look, part); }, look.plan);
}

asio::awaitable<Outcome> ShadowPodController::act(const Look&, const action::Nothing&) { co_return Outcome::done(); }

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::Refuse& refusal) {
  co_return co_await refuse(look.shadow, refusal.words);
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::LeaveForeign& plan) {
  if (plan.release) {
    auto released = co_await release(*look.pod, true);
    if (!released) co_return Outcome::retry(std::move(released.error()));
  }
  if (plan.refusal.empty()) co_return Outcome::done();
  co_return co_await refuse(look.shadow, plan.refusal);
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::Release&) {
  auto released = co_await release(*look.pod, false);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::RemovePod& plan) {
  if (plan.release) {
    auto released = co_await release(*look.pod, false);
    if (!released) co_return Outcome::retry(std::move(released.error()));
  }
  auto removed = co_await kube::remove_object(
      context_.home.api(), kube::resources::pods, look.shadow.key(),
      {.options = {.uid = std::string(look.pod->uid()), .grace_period_seconds = plan.grace_seconds},
       .phase = "removing the pod of a ShadowPod that is deleted"});
  if (!removed) co_return Outcome::retry(std::move(removed.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::RecordLoss& plan) {
  auto live = co_await context_.home.api().get(kube::resources::pods, look.shadow.key());
  if (!live && !live.error().is_not_found())
    co_return Outcome::retry(std::move(live.error()).in("reading the pod that seems to be gone"));
  if (const auto controller = live ? live->controller() : std::nullopt;
      controller && controller->uid == look.shadow.uid()) {
    pods_->observe(std::move(*live));
    co_return Outcome::again_after(unseen_time);
  }
  auto recorded = co_await write_record(look.shadow.key(), plan.status);
  if (!recorded) co_return Outcome::retry(std::move(recorded.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::AwaitConfirmation&) {
  const kube::ObjectKey key = look.shadow.key();
  const kube::TimePoint now = context_.clock.now();
  auto& since = memory_[key].unconfirmed_since;
  if (!since) since = now;
  if (const kube::Duration left = core::confirm_patience - (now - *since); left > 0ms)
    co_return Outcome::again_after(left);
  context_.events.warning(look.shadow, api::kinds::shadow_pods, order_expired,
                          "the order of this pod came late, and its consumer has not confirmed it for five minutes: it "
                          "is removed, and ordered again if the consumer still has the pod");
  // A confirmation that has come meanwhile is another version.
  auto removed =
      co_await kube::remove_object(context_.home.api(), api::kinds::shadow_pods, key,
                                   {.options = {.uid = std::string(look.shadow.uid()),
                                                .resource_version = std::string(look.shadow.resource_version())},
                                    .phase = "removing an order that came late"});
  if (!removed) co_return Outcome::retry(std::move(removed.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::AwaitCreate&) {
  co_return Outcome::again_after(memory_[look.shadow.key()].in_doubt_until - context_.clock.now());
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, const action::AwaitPod&) {
  const kube::ObjectKey key = look.shadow.key();
  const kube::Duration waited = context_.clock.now() - memory_[key].created_at;
  if (waited < unseen_time) co_return Outcome::again_after(unseen_time - waited);
  auto live = co_await context_.home.api().get(kube::resources::pods, key);
  if (live) {
    pods_->observe(std::move(*live));
  } else if (live.error().is_not_found()) {
    memory_[key].plan.pod_created = false;
  } else {
    co_return Outcome::retry(std::move(live.error()).in("looking whether the pod is there"));
  }
  co_return Outcome::again_after(0ms);
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, action::Create& plan) {
  if (plan.confirm_first) {
    auto live = co_await context_.home.api().get(api::kinds::shadow_pods, look.shadow.key());
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("reading the ShadowPod"));
    // An event of the ShadowPod brings the key back, or takes the ShadowPod from the cache.
    if (!live || live->uid() != look.shadow.uid() || live->is_deleting()) co_return Outcome::done();
  }
  if (auto end = co_await bound(look.shadow, plan.pod)) co_return std::move(*end);
  co_return co_await create(look.shadow, plan.pod);
}

asio::awaitable<std::optional<Outcome>> ShadowPodController::bound(const kube::Object& shadow, kube::Object& pod) {
  const kube::ObjectKey key = shadow.key();
  const auto bounds = bounds_.find(key.ns);
  if (bounds == bounds_.end() && policy_of(key.ns).cluster_roles.empty()) co_return std::nullopt;
  if (!surroundings_) surroundings_.emplace(context_.home);
  if (!surroundings_->has_synced()) co_return Outcome::again_after(cache_pause);
  if (bounds == bounds_.end() || !bounds->second.counted) co_return co_await await_bounds(shadow);
  kube::json::object& spec = pod.mutable_spec();
  core::name_requests(spec, surroundings_->of(key.ns, spec).limit_ranges);
  // Room that comes while the create is being refused has to wake the ShadowPod, too.
  short_[key.ns].insert(key);
  co_return std::nullopt;
}

asio::awaitable<Outcome> ShadowPodController::create(const kube::Object& shadow, const kube::Object& pod) {
  const kube::ObjectKey key = shadow.key();
  const kube::TimePoint sent_at = context_.clock.now();
  auto created = co_await context_.home.api().create(kube::resources::pods, pod);
  Memory& memory = memory_[key];
  if (!created && core::may_be_carried_out(created.error())) {
    memory.plan.create_tried = true;
    if (created.error().code() == kube::Errc::timeout) memory.in_doubt_until = sent_at + core::create_doubt;
  }
  if (created) {
    memory.plan.pod_created = true;
    memory.waits_since.reset();
    stop_waiting(key);
    memory.created_at = busy_at_ = context_.clock.now();
    pods_->observe(std::move(*created));
    co_return Outcome::done();
  }
  if (!created.error().is_already_exists())
    co_return co_await take_refusal(shadow, std::move(created.error()).in("creating the pod"));
  // The pod is ours and not in the cache yet, or somebody else's: its labels and owner tell.
  auto live = co_await context_.home.api().get(kube::resources::pods, key);
  if (!live) co_return Outcome::retry(std::move(live.error()).in("looking whose pod of that name it is"));
  if (live->label(api::labels::managed_by) == api::labels::managed_by_shadow_pod) {
    pods_->observe(std::move(*live));
    co_return Outcome::again_after(0ms);
  }
  Look look{.shadow = shadow, .pod = std::move(*live), .plan = {}};
  look.plan = core::plan_shadow_pod(look.sight(), core::ShadowMemory());
  co_return co_await carry_out(look);
}

asio::awaitable<Outcome> ShadowPodController::act(const Look& look, action::Keep& plan) {
  std::optional<kube::Duration> again_after;
  for (action::Step& step : plan.steps) {
    auto taken = co_await std::visit([&](auto& part) { return take(look, part); }, step);
    if (!taken) co_return Outcome::retry(std::move(taken.error()));
    if (taken->end) co_return std::move(*taken->end);
    if (taken->again_after) again_after = taken->again_after;
  }
  co_return again_after ? Outcome::again_after(*again_after) : Outcome::done();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    action::Tell& step) {
  auto told = co_await write_told(look.shadow.key(), std::move(step.patch));
  if (!told) co_return std::unexpected(std::move(told.error()));
  co_return Taken();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    const action::PatchPod& step) {
  auto patched = co_await patch_pod(look.shadow, step.patch);
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  co_return Taken();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    const action::Record& step) {
  if (step.may_wait) {
    record_later(look.shadow.key());
    co_return Taken();
  }
  auto recorded = co_await write_record(look.shadow.key(), step.status);
  if (!recorded) co_return std::unexpected(std::move(recorded.error()));
  // The pod is not released without its record. A ShadowPod that is gone brings it back here by its own event.
  if (!*recorded) co_return Taken{.end = Outcome::done()};
  co_return Taken();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    const action::Release&) {
  auto released = co_await release(*look.pod, false);
  if (!released) co_return std::unexpected(std::move(released.error()));
  co_return Taken();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    core::PodResize& step) {
  auto left = co_await resize(look.shadow, *look.pod, std::move(step));
  if (!left) co_return std::unexpected(std::move(left.error()));
  // The change of the Pod brings the ShadowPod back here.
  if (!*left) co_return Taken{.end = Outcome::done()};
  co_return Taken{.again_after = *left};
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    core::EphemeralAddition& step) {
  auto added = co_await add_ephemeral(look.shadow, *look.pod, std::move(step));
  if (!added) co_return std::unexpected(std::move(added.error()));
  co_return Taken();
}

asio::awaitable<kube::Result<ShadowPodController::Taken>> ShadowPodController::take(const Look& look,
                                                                                    const action::AwaitNode&) {
  Memory& memory = memory_[look.shadow.key()];
  if (std::exchange(memory.awaited, std::string(look.pod->uid())) != look.pod->uid())
    memory.awaited_since = context_.clock.now();
  co_return Taken{.again_after = core::node_patience - (context_.clock.now() - memory.awaited_since)};
}

asio::awaitable<kube::Result<bool>> ShadowPodController::write_record(kube::ObjectKey key,
                                                                      const kube::json::object& status) {
  auto patched = co_await kube::merge_patch(
      context_.home.api(), *shadows_, std::move(key),
      {.body = kube::json::serialize(status), .phase = "recording the phase", .options = {.subresource = "status"}});
  if (!patched) co_return std::unexpected(std::move(patched.error()));
  co_return patched->has_value();
}

asio::awaitable<Outcome> ShadowPodController::refuse(const kube::Object& shadow, std::string words) {
  context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, words);
  auto told = co_await tell(shadow, std::move(words));
  if (!told) co_return Outcome::retry(std::move(told.error()));
  co_return Outcome::again_after(30s);
}

asio::awaitable<kube::Result<void>> ShadowPodController::patch_pod(const kube::Object& shadow,
                                                                   const kube::json::object& patch) {
  auto patched = co_await kube::merge_patch(
      context_.home.api(), *pods_, shadow.key(),
      {.body = kube::json::serialize(patch), .phase = "updating the pod", .type = kube::PatchType::strategic_merge});
  if (patched) co_return kube::Result<void>();
  if (patched.error().is_permanent())
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod, patched.error().text());
  co_return std::unexpected(std::move(patched.error()));
}

}  // namespace liqo::controllers
