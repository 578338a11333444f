// What the pods of a virtual node ask of their provider, and what becomes of those that it refuses.
#include <algorithm>

#include "controllers/offloading/pod.hpp"
#include "core/common/digest.hpp"
#include "core/offloading/capacity.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/not_reflected.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/resize.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/offloading/shadow_pod_update.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace reasons = api::reasons;

/// A pod that waits for another one of the same demand is ordered after this time in any case, plus up to half of it:
/// the two may differ in what only the provider knows.
constexpr kube::Duration max_wait = 1h;
/// The least time between two orders of the same demand that changes cause.
constexpr kube::Duration ask_pause = 500ms;
/// Without a change the pauses between orders grow from the first to the second.
constexpr kube::Duration first_pause = 1s, max_pause = 60s;

/// How long a provider that had no room counts as full after the last waiting pod is gone: that pod's owner replaces
/// it in a moment, and the replacement is to go elsewhere.
constexpr kube::Duration full_time = 10s;

/// A refused resize is asked for again after `resize_pause`: room comes and goes without notice. When room may have
/// come, so many of the waiting resizes are asked for.
constexpr kube::Duration resize_pause = 30s;
constexpr std::size_t max_resizes_asking = 8;

/// A removed twin, or rights in it, come back sooner than that; the rights of a drained tenant do not.
constexpr kube::Duration rights_patience = 1min;

/// Digest of what the provider is asked to run.
std::string order_digest(const kube::Object& local, std::string_view remote_namespace,
                         const core::ForgingContext& forging) {
  const auto forged = core::forge_shadow_pod(local, remote_namespace, forging);
  return forged ? core::digest_hex(forged->shadow.text()) : std::string();
}

/// When the scheduler at home bound the pod; later the condition holds the provider's words.
std::optional<kube::WallTime> bound_at(const kube::Object& local) {
  const kube::json::object* scheduled = kube::find_condition(local.status(), "PodScheduled");
  if (!scheduled) return std::nullopt;
  const auto time = kube::parse_time(kube::string_at(*scheduled, {"lastTransitionTime"}));
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

bool PodController::has_volume_there(const kube::Object& local, std::string_view claim) const {
  if (!claims_) return false;
  const auto found = claims_->find({std::string(local.ns()), std::string(claim)});
  return found && kube::string_at(found->spec(), {"storageClassName"}) == context_.settings.storage.storage_class;
}

asio::awaitable<kube::Result<void>> PodController::create_shadow(const kube::Object& local,
                                                                 kube::ObjectKey remote_key) {
  auto forged = core::forge_shadow_pod(local, remote_key.ns, forging_);
  std::optional<kube::Failure> failure;
  if (!forged) {
    failure = std::move(forged.error());
  } else {
    core::stamp_order(forged->shadow, context_.clock.wall());
    const kube::TimePoint sent_at = context_.clock.now();
    auto created = co_await provider_.api.create(api::kinds::shadow_pods, forged->shadow);
    const bool in_doubt = !created && core::may_be_carried_out(created.error());
    if (in_doubt) memory_of(local.key(), local.uid()).in_doubt_until = sent_at + core::order_doubt;
    if (created || in_doubt) memory_of(local.key(), local.uid()).plan.sent = true;
    note_order(local, created ? nullptr : &created.error());
    note_taking(local, created ? nullptr : &created.error());
    if (created) {
      if (std::exchange(refused_until_, {}) > context_.clock.now() && room_changed_) room_changed_();
      if (Twin* twin = find_twin(std::string(local.ns()))) twin->counters.add_reflected(series_of(local.ns()));
      if (auto* cache = cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::shadows))
        cache->observe(std::move(*created));
      wake(refused_.taken(local.key()));
      Memory& memory = memory_of(local.key(), local.uid());
      memory.plan.shadow_created = true;
      memory.shadow_created_at = context_.clock.now();
      memory.refused_at.reset();
      memory.refusals = 0;
      // A pod that has run before is made again: the time of its binding says nothing about this start.
      if (!local.has_annotation(api::annotations::remote_pod_uid)) memory.bound = bound_at(local);
      if (const std::string missing =
              core::not_reflected(local, [&](std::string_view claim) { return has_volume_there(local, claim); });
          !missing.empty() && !std::exchange(memory.told_not_reflected, true))
        context_.events.warning(local, kube::resources::pods, reasons::not_reflected,
                                core::describe_not_reflected(missing, forging_.clusters.remote));
      if (!forged->dropped_fields.empty() && !std::exchange(memory.told_dropped_fields, true)) {
        context_.events.warning(local, kube::resources::pods, reasons::fields_dropped,
                                "these fields have no effect in cluster " + forging_.clusters.remote + ": " +
                                    kube::join(forged->dropped_fields, ", "));
      }
      co_return kube::Result<void>();
    }
    // The object is ours, from before a restart or a lost answer, or somebody else's. The cache will show which.
    if (created.error().is_already_exists()) co_return kube::Result<void>();
    failure = std::move(created.error());
  }
  if (failure->is_permanent() || failure->code() == kube::Errc::invalid_input) {
    std::string message = core::refusal_message(forging_.clusters.remote, core::refusal_words(*failure));
    if (const std::string why = why_too_large(local.key()); !why.empty())
      message += "; this node can never hold it: " + why + ": create it again with less, or have more granted";
    auto wanted = core::forge_refusal(local, reasons::offloading_refused, message, context_.clock.wall());
    auto told = co_await write_status(local, std::move(wanted));
    if (!told) co_return told;
    tell_refusal(local, message);
    Memory& memory = memory_of(local.key(), local.uid());
    memory.refused_at = context_.clock.now();
    memory.refused_order = order_digest(local, remote_key.ns, forging_);
    ++memory.refusals;
    std::string group = core::refusal_group(local, message);
    wake(refused_.changed(local.key(), group), ask_pause);
    (void)refused_.refused(local.key(), std::move(group));
  }
  co_return kube::fail(std::move(*failure), "offloading the pod");
}

asio::awaitable<kube::Result<bool>> PodController::update_shadow(const kube::Object& local,
                                                                 const kube::Object& shadow) {
  auto patch = core::plan_shadow_pod_update(local, shadow, forging_);
  if (!patch) co_return false;
  auto patched = co_await provider_.api.patch(api::kinds::shadow_pods, shadow.key(),
                                              {kube::PatchType::merge, kube::json::serialize(*patch)});
  if (!patched) {
    if (patched.error().is_permanent() && !patched.error().is_not_found())
      context_.events.warning(local, kube::resources::pods, reasons::failed_reflection,
                              "cluster " + forging_.clusters.remote + " refuses the change: " +
                                  kube::one_line(core::refusal_words(patched.error()), core::max_refusal));
    co_return kube::fail(std::move(patched.error()), "updating the ShadowPod");
  }
  if (Twin* twin = find_twin(std::string(local.ns()))) twin->counters.add_reflected(series_of(local.ns()));
  if (auto* cache = cache_of(std::string(local.ns()), shadow.ns(), &TwinWatch::shadows))
    cache->observe(std::move(*patched));
  co_return true;
}

asio::awaitable<kube::Result<std::optional<kube::Failure>>> PodController::change_shadow(const kube::Object& local,
                                                                                         kube::ObjectKey remote_key,
                                                                                         kube::json::object patch,
                                                                                         std::string_view phase) {
  auto patched = co_await provider_.api.patch(api::kinds::shadow_pods, remote_key,
                                              {kube::PatchType::merge, kube::json::serialize(patch)});
  if (patched) {
    if (auto* cache = cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::shadows))
      cache->observe(std::move(*patched));
    co_return std::nullopt;
  }
  if (!patched.error().is_permanent() || patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), phase);
  co_return std::move(patched.error());
}

std::optional<kube::Object> PodController::shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key) {
  auto* cache = cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::shadows);
  auto shadow = cache ? cache->find(remote_key) : std::nullopt;
  if (shadow && shadow->annotation(api::annotations::local_pod_uid) != local.uid()) shadow.reset();
  return shadow;
}

asio::awaitable<kube::Result<core::ResizeRefusal>> PodController::resize_shadow(const kube::Object& local,
                                                                                kube::ObjectKey remote_key,
                                                                                const kube::Object& remote) {
  // Where there is no ShadowPod, the next one is made with the amounts that the pod has by then.
  const auto shadow = shadow_of(local, remote_key);
  auto patch = shadow ? core::plan_shadow_resize(local, *shadow) : std::nullopt;
  if (!patch || remote.is_deleting()) co_return core::ResizeRefusal();
  if (!core::takes_resize(remote)) co_return core::ResizeRefusal{.words = std::string(core::resize_not_carried)};
  const std::string digest = core::resources_digest(local.spec());
  if (const Memory& memory = memory_of(local.key(), local.uid());
      memory.refused_resize == digest && context_.clock.now() < memory.resize_again_at)
    co_return memory.resize_refusal;
  auto refused = co_await change_shadow(local, remote_key, std::move(*patch), "resizing the ShadowPod");
  if (!refused) co_return std::unexpected(std::move(refused.error()));
  core::ResizeRefusal refusal;
  if (*refused) {
    refusal = {.words = core::refusal_words(**refused), .may_pass = core::is_for_lack_of_room(**refused)};
  } else if (const auto stored = shadow_of(local, remote_key);
             stored && core::asks_otherwise(local.spec(), api::ShadowPod(*stored).pod_spec())) {
    // The provider drops the amounts silently, so the patch would be sent again and again.
    refusal.words = core::resize_not_kept;
  }
  Memory& memory = memory_of(local.key(), local.uid());
  note_resize(local.key(), refusal.may_pass);
  if (refusal.words.empty()) {
    memory.refused_resize.clear();
    memory.resizes = true;
    co_return refusal;
  }
  memory.resize_again_at = context_.clock.now() + resize_pause;
  memory.resize_refusal = refusal;
  // Once: how the words change while it is refused, such as what is used of a quota, the condition tells.
  if (std::exchange(memory.refused_resize, digest) != digest)
    context_.events.warning(local, kube::resources::pods, reasons::failed_reflection,
                            "cluster " + forging_.clusters.remote +
                                " refuses the resize: " + kube::one_line(refusal.words, core::max_refusal));
  co_return refusal;
}

asio::awaitable<kube::Result<std::string>> PodController::add_ephemeral(const kube::Object& local,
                                                                        kube::ObjectKey remote_key,
                                                                        const kube::Object& remote) {
  // None can be taken away, so a pod without has nothing to send.
  if (kube::array_at(local.spec(), {"ephemeralContainers"}).empty()) co_return std::string();
  if (remote.is_deleting() || !core::takes_ephemeral(remote)) co_return std::string();
  // Where there is no ShadowPod, the next one brings the pod back here.
  const auto shadow = shadow_of(local, remote_key);
  auto patch = shadow ? core::plan_shadow_ephemeral(local, *shadow, forging_) : std::nullopt;
  if (!patch) co_return std::string();
  constexpr std::string_view phase = "adding an ephemeral container to the ShadowPod";
  auto refused = co_await change_shadow(local, remote_key, std::move(*patch), phase);
  if (!refused) co_return std::unexpected(std::move(refused.error()));
  if (!*refused) co_return std::string();
  // Rights may come back.
  if (core::is_for_lack_of_rights(**refused)) co_return kube::fail(std::move(**refused), phase);
  std::string words = core::refusal_words(**refused);
  context_.events.warning(local, kube::resources::pods, reasons::failed_reflection,
                          "cluster " + forging_.clusters.remote +
                              " refuses the ephemeral container: " + kube::one_line(words, core::max_refusal));
  co_return words;
}

void PodController::see_resize(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote) {
  // A completed resize may have freed room.
  bool& resizes = memory_of(local.key(), local.uid()).resizes;
  if (!resizes || !core::has_resized(shadow, remote)) return;
  resizes = false;
  ask_again();
}

void PodController::note_resize(const kube::ObjectKey& key, bool waits) {
  if (waits)
    resizes_.insert(key);
  else
    resizes_.erase(key);
}

void PodController::note_order(const kube::Object& local, const kube::Failure* refusal) {
  // A temporary failure says nothing about room.
  if (refusal && !refusal->is_permanent()) return;
  auto& since = memory_of(local.key(), local.uid()).without_rights_since;
  const kube::TimePoint now = context_.clock.now();
  if (!refusal || !core::is_for_lack_of_rights(*refusal))
    since.reset();
  else if (!since)
    since = now;
  if (refusal && (core::is_for_lack_of_room(*refusal) || (since && now - *since >= rights_patience)))
    note_refusal(local);
  else
    forget_refusal(local.key());
}

void PodController::note_refusal(const kube::Object& local) {
  const kube::ObjectKey key = local.key();
  Waiting waiting{.demand = core::scheduled_demand(local)};
  waiting.fits = core::why_too_large(waiting.demand, allocatable_).empty();
  const bool fits = waiting.fits;
  const auto [at, is_new] = without_room_.try_emplace(key);
  const bool fitted = std::exchange(at->second, std::move(waiting)).fits;
  if (!is_new && fitted == fits) return;
  if (fitted) --closing_;
  if (fits) ++closing_;
  // Where the node is closed already, set_closed() does not enqueue the pod.
  if (closed_ || !fits) enqueue(key);
  if (room_changed_) room_changed_();
}

void PodController::forget_refusal(const kube::ObjectKey& key) {
  const auto gone = without_room_.extract(key);
  if (gone.empty()) return;
  // What takes the place of a pod that never fits is not placed here, however open the node is.
  if (gone.mapped().fits && --closing_ == 0) refused_until_ = context_.clock.now() + full_time;
  if (room_changed_) room_changed_();
}

void PodController::see_node() {
  const auto node = nodes_->find({"", forging_.node_name});
  auto read = node ? core::read_resources(kube::object_at(node->status(), {"allocatable"}))
                   : kube::Result<core::Resources>(core::Resources());
  core::Resources now = read ? std::move(*read) : core::Resources();
  if (now == allocatable_) return;
  allocatable_ = std::move(now);
  const std::size_t before = closing_;
  for (auto& [key, waiting] : without_room_) {
    const bool fits = core::why_too_large(waiting.demand, allocatable_).empty();
    if (std::exchange(waiting.fits, fits) == fits) continue;
    if (fits)
      ++closing_;
    else
      --closing_;
    enqueue(key);
  }
  if (closing_ != before && room_changed_) room_changed_();
}

std::string PodController::why_too_large(const kube::ObjectKey& key) const {
  const auto waiting = without_room_.find(key);
  if (waiting == without_room_.end() || waiting->second.fits) return {};
  return core::why_too_large(waiting->second.demand, allocatable_);
}

void PodController::set_closed(bool closed, bool is_told) {
  // A provider that says when it closes also says when it opens.
  if (is_told) refused_until_ = {};
  const bool same = std::exchange(closed_, closed) == closed;
  if (std::exchange(closed_is_told_, is_told) == is_told && same) return;
  for (const auto& [key, waiting] : without_room_) enqueue(key);
}

void PodController::wake(const std::vector<kube::ObjectKey>& refused, kube::Duration delay) {
  for (const kube::ObjectKey& key : refused) {
    if (const auto known = memory_.find(key); known != memory_.end()) known->second.refused_at.reset();
    controller_.enqueue_after({forging_.node_name, key}, delay);
  }
}

void PodController::ask_again() {
  // The pods woken before are ordered after the pause, and so see this change as well.
  const kube::TimePoint now = context_.clock.now();
  if (now < asking_at_) return;
  asking_at_ = now + ask_pause;
  wake(refused_.asking(), ask_pause);
  // The resizes take turns, because each is a request of its own.
  auto next = resizes_.upper_bound(last_resize_);
  for (std::size_t i = 0; i < std::min(resizes_.size(), max_resizes_asking); ++i, ++next) {
    if (next == resizes_.end()) next = resizes_.begin();
    if (const auto known = memory_.find(*next); known != memory_.end()) known->second.resize_again_at = {};
    controller_.enqueue_after({forging_.node_name, *next}, ask_pause);
    last_resize_ = *next;
  }
}

std::optional<kube::Duration> PodController::wait_for_room(const kube::Object& local,
                                                           std::string_view remote_namespace) {
  const Memory& memory = memory_of(local.key(), local.uid());
  // A pod that was changed since its refusal is a new order.
  if (!memory.refused_at || memory.refused_order != order_digest(local, remote_namespace, forging_))
    return std::nullopt;
  const kube::Duration waited = context_.clock.now() - *memory.refused_at;
  if (!refused_.waits(local.key())) {
    const kube::Duration pause =
        std::min<kube::Duration>(first_pause * (1 << std::min(memory.refusals - 1, 10)), max_pause);
    return waited < pause ? std::optional(pause - waited) : std::nullopt;
  }
  if (waited >= max_wait) return std::nullopt;
  return max_wait - waited + context_.random.between(0s, max_wait / 2);
}

void PodController::tell_refusal(const kube::Object& local, const std::string& message) {
  // Once: how the words change while it is refused, such as what is used of a quota, the condition tells.
  if (!message.empty() && core::refusal_told(local.status()).empty())
    context_.events.warning(local, kube::resources::pods, reasons::failed_reflection, message);
}

}  // namespace liqo::controllers
