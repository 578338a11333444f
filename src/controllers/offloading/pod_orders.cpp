#include "controllers/offloading/pod_orders.hpp"

#include <utility>

#include "core/common/digest.hpp"
#include "core/namespaces/twin_owner.hpp"
#include "core/offloading/capacity.hpp"
#include "core/offloading/dropped_fields.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/ephemeral_volumes.hpp"
#include "core/offloading/not_reflected.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/refused_labels.hpp"
#include "core/offloading/shadow_pod_update.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

namespace reasons = api::reasons;

/// How long a pod waits for its twin to be read.
constexpr kube::Duration owner_patience = std::chrono::seconds(5);

/// A digest of the order: what the provider is asked to run.
std::string order_digest(const kube::Object& local, std::string_view remote_namespace,
                         const core::ForgingContext& forging) {
  const auto forged = core::forge_shadow_pod(local, remote_namespace, forging);
  return forged ? core::digest_hex(forged->shadow.text()) : std::string();
}

/// When the scheduler at home bound the pod; later the condition has the provider's words.
std::optional<kube::WallTime> bound_at(const kube::Object& local) {
  const kube::json::object* scheduled = kube::find_condition(local.status(), "PodScheduled");
  if (!scheduled) return std::nullopt;
  const auto time = kube::parse_time(kube::string_at(*scheduled, {"lastTransitionTime"}));
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

PodOrders::PodOrders(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses, Listeners listeners)
    : node_(node), twins_(twins), statuses_(statuses), listeners_(listeners) {
  if (!node.context.settings.storage.storage_class.empty())
    claims_ = node.context.home.acquire({.resource = api::kinds::claims});
}

bool PodOrders::has_volume_there(const kube::Object& local, std::string_view claim) const {
  if (!claims_) return false;
  const auto found = claims_->find({std::string(local.ns()), std::string(claim)});
  return found && kube::string_at(found->spec(), {"storageClassName"}) == node_.context.settings.storage.storage_class;
}

kube::Result<void> PodOrders::name_claims(const kube::Object& local, kube::Object& shadow) const {
  if (!claims_) return {};
  return core::name_ephemeral_claims(
      kube::ensure_object(shadow.mutable_spec(), "pod"), local, node_.context.settings.storage.storage_class,
      [&](std::string_view claim) { return claims_->find({std::string(local.ns()), std::string(claim)}); });
}

void PodOrders::warn_refused(const kube::Object& local, std::string_view what, std::string_view words) {
  node_.warn(local, reasons::failed_reflection,
             "cluster " + node_.cluster() + " refuses the " + std::string(what) + ": " +
                 kube::one_line(words, core::max_refusal));
}

std::optional<kube::Duration> PodOrders::wait_for_room(const kube::Object& local, std::string_view remote_namespace) {
  const core::RefusedPod& pod = node_.memory.of(local).refused;
  if (!pod.refused_at()) return std::nullopt;
  const auto pause = pod.wait(order_digest(local, remote_namespace, node_.forging),
                              listeners_.refused.waits(local.key()), node_.context.clock.now());
  if (!pause) return std::nullopt;
  if (pause->spread == kube::Duration::zero()) return pause->least;
  return pause->least + node_.context.random.between(kube::Duration::zero(), pause->spread);
}

asio::awaitable<std::optional<kube::OwnerReference>> PodOrders::owner_in(std::string twin) {
  if (!owners()) co_return std::nullopt;
  if (auto known = owners()->known(twin)) co_return std::move(known);
  auto owner = co_await kube::async::with_timeout(node_.context.clock, owners()->of(std::move(twin)), owner_patience);
  co_return owner && *owner ? std::move(**owner) : std::nullopt;
}

asio::awaitable<kube::Result<void>> PodOrders::create(const kube::Object& local, kube::ObjectKey remote_key,
                                                      std::optional<kube::OwnerReference> owner) {
  auto forged = core::forge_shadow_pod(local, remote_key.ns, node_.forging);
  if (!forged) co_return co_await refuse(local, remote_key, std::move(forged.error()));
  if (auto named = name_claims(local, forged->shadow); !named)
    co_return co_await refuse(local, remote_key, std::move(named.error()));
  if (owner) forged->shadow.add_owner_reference(*owner);
  core::stamp_order(forged->shadow, node_.context.clock.wall());
  kube::TimePoint sent_at = node_.context.clock.now();
  auto created = co_await node_.provider.api.create(api::kinds::shadow_pods, forged->shadow);
  std::vector<std::string> without;
  if (!created && created.error().is_permanent())
    without = core::refused_labels(forged->shadow, core::refusal_words(created.error()));
  if (!without.empty()) {
    core::leave_out_labels(forged->shadow, without);
    sent_at = node_.context.clock.now();
    created = co_await node_.provider.api.create(api::kinds::shadow_pods, forged->shadow);
  }
  if (!created && owner && owners()->note_failure(*owner, created.error()))
    co_return kube::fail(std::move(created.error()), "offloading the pod");
  const bool in_doubt = !created && core::may_be_carried_out(created.error());
  if (in_doubt) node_.memory.of(local).in_doubt_until = sent_at + core::order_doubt;
  if (created || in_doubt) node_.memory.of(local).plan.sent = true;
  note_answer(local, created ? nullptr : &created.error());
  listeners_.awaited.note_taking(local, created ? nullptr : &created.error());
  if (created) {
    if (!without.empty() && !std::exchange(node_.memory.of(local).reported_labels, true))
      node_.warn(local, reasons::left_out, core::describe_refused_labels(without, node_.cluster()));
    note_created(local, *forged, std::move(*created));
    co_return kube::Result<void>();
  }
  // The object is ours, from before a restart or a lost answer, or has another owner. The cache will show which.
  if (created.error().is_already_exists()) co_return kube::Result<void>();
  co_return co_await refuse(local, remote_key, std::move(created.error()));
}

void PodOrders::note_answer(const kube::Object& local, const kube::Failure* refusal) {
  using Room = core::RefusedPod::Room;
  const Room room = node_.memory.of(local).refused.see_answer(refusal, node_.context.clock.now());
  if (room == Room::lacking) listeners_.room.add(local);
  if (room == Room::there) listeners_.room.remove(local.key());
}

void PodOrders::note_created(const kube::Object& local, const core::ForgedShadowPod& forged, kube::Object created) {
  const std::string dropped = core::describe_dropped_fields(forged, created, node_.cluster());
  listeners_.room.see_taken();
  twins_.count_reflected(std::string(local.ns()));
  if (auto* cache = twins_.cache_of(std::string(local.ns()), forged.shadow.ns(), &TwinWatch::shadows))
    cache->observe(std::move(created));
  listeners_.refused.taken(local.key());
  RememberedPod& memory = node_.memory.of(local);
  memory.plan.shadow_created = true;
  memory.shadow_created_at = node_.context.clock.now();
  memory.refused.taken();
  // A pod that has run before is made again: the time of its binding does not measure this start.
  if (!local.has_annotation(api::annotations::remote_pod_uid)) memory.bound = bound_at(local);
  const std::string missing =
      core::not_reflected(local, [&](std::string_view claim) { return has_volume_there(local, claim); });
  if (!missing.empty() && !std::exchange(memory.reported_not_reflected, true))
    node_.warn(local, reasons::not_reflected, core::describe_not_reflected(missing, node_.cluster()));
  if (!dropped.empty() && !std::exchange(memory.reported_dropped_fields, true))
    node_.warn(local, reasons::fields_dropped, dropped);
  if (!forged.read_namespace.empty() && !std::exchange(memory.reported_namespace, true))
    node_.warn(local, reasons::twin_namespace_read, forged.read_namespace);
}

asio::awaitable<kube::Result<void>> PodOrders::refuse(const kube::Object& local, kube::ObjectKey remote_key,
                                                      kube::Failure failure) {
  if (failure.is_permanent() || failure.code() == kube::Errc::invalid_input) {
    std::string message = failure.status() ? core::refusal_message(node_.cluster(), core::refusal_words(failure))
                                           : core::unsent_message(node_.cluster(), core::refusal_words(failure));
    if (const std::string why = listeners_.room.why_too_large(local.key()); !why.empty())
      message += "; this node can never hold it: " + why + ": create it again with less, or have more granted";
    auto wanted = core::forge_refusal(local, reasons::offloading_refused, message, node_.context.clock.wall());
    KUBE_CO_TRYV(co_await statuses_.write(local, std::move(wanted)));
    report_refusal(local, message);
    node_.memory.of(local).refused.refused(order_digest(local, remote_key.ns, node_.forging),
                                           node_.context.clock.now());
    listeners_.refused.refused(local.key(), core::refusal_group(local, message));
  }
  co_return kube::fail(std::move(failure), "offloading the pod");
}

asio::awaitable<kube::Result<void>> PodOrders::refuse_here(const kube::Object& local, kube::ObjectKey remote_key,
                                                           std::string why) {
  co_return co_await refuse(local, std::move(remote_key), kube::Failure(kube::Errc::invalid_input, std::move(why)));
}

asio::awaitable<kube::Result<bool>> PodOrders::update(const kube::Object& local, const kube::Object& shadow) {
  RememberedPod& memory = node_.memory.of(local);
  if (const std::string why = core::refuse_read_change(local, shadow); why.empty())
    memory.reported_reads = false;
  else if (!std::exchange(memory.reported_reads, true))
    node_.warn(local, reasons::reads_too_large,
               "what the pod reads in cluster " + node_.cluster() + " about itself stays as it is: " + why);
  auto patch = core::plan_shadow_pod_update(local, shadow, node_.forging);
  auto owner = owners() ? owners()->known(std::string(shadow.ns())) : std::nullopt;
  if (patch) owner = co_await owner_in(std::string(shadow.ns()));
  // What was ordered before there were owners gets one with its next change. A former twin as its owner is a change.
  if (owner && (patch || core::names_former_twin(shadow, *owner)))
    if (auto named = core::owners_with(shadow, *owner)) {
      if (!patch)
        patch = kube::json::object{
            {"metadata", kube::json::object{{"uid", shadow.uid()}, {"resourceVersion", shadow.resource_version()}}}};
      kube::ensure_object(*patch, "metadata")["ownerReferences"] = std::move(*named);
    }
  if (!patch) co_return false;
  auto patched = co_await node_.provider.api.patch(api::kinds::shadow_pods, shadow.key(),
                                                   {kube::PatchType::merge, kube::json::serialize(*patch)});
  if (!patched) {
    const bool is_for_owner = owner && owners()->note_failure(*owner, patched.error());
    if (patched.error().is_permanent() && !patched.error().is_not_found() && !is_for_owner)
      warn_refused(local, "change", core::refusal_words(patched.error()));
    co_return kube::fail(std::move(patched.error()), "updating the ShadowPod");
  }
  twins_.count_reflected(std::string(local.ns()));
  if (auto* cache = twins_.cache_of(std::string(local.ns()), shadow.ns(), &TwinWatch::shadows))
    cache->observe(std::move(*patched));
  co_return true;
}

asio::awaitable<kube::Result<std::optional<kube::Failure>>> PodOrders::change(const kube::Object& local,
                                                                              kube::ObjectKey remote_key,
                                                                              kube::json::object patch,
                                                                              std::string_view phase) {
  auto patched = co_await node_.provider.api.patch(api::kinds::shadow_pods, remote_key,
                                                   {kube::PatchType::merge, kube::json::serialize(patch)});
  if (patched) {
    if (auto* cache = twins_.cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::shadows))
      cache->observe(std::move(*patched));
    co_return std::nullopt;
  }
  if (!patched.error().is_permanent() || patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), phase);
  co_return std::move(patched.error());
}

std::optional<kube::Object> PodOrders::shadow_of(const kube::Object& local, const kube::ObjectKey& remote_key) {
  auto* cache = twins_.cache_of(std::string(local.ns()), remote_key.ns, &TwinWatch::shadows);
  auto shadow = cache ? cache->find(remote_key) : std::nullopt;
  if (shadow && shadow->annotation(api::annotations::local_pod_uid) != local.uid()) shadow.reset();
  return shadow;
}

asio::awaitable<kube::Result<core::ResizeRefusal>> PodOrders::resize(const kube::Object& local,
                                                                     kube::ObjectKey remote_key,
                                                                     const kube::Object& remote) {
  // If there is no ShadowPod, the next one is made with the resources that the pod has by then.
  const auto shadow = shadow_of(local, remote_key);
  auto patch = shadow ? core::plan_shadow_resize(local, *shadow) : std::nullopt;
  if (!patch || remote.is_deleting()) co_return core::ResizeRefusal();
  if (!core::takes_resize(remote)) co_return core::ResizeRefusal{.words = std::string(core::resize_not_carried)};
  const std::string amounts = core::resources_digest(local.spec());
  if (const auto* standing = node_.memory.of(local).refused.standing_resize(amounts, node_.context.clock.now()))
    co_return *standing;
  KUBE_CO_TRY(refused, co_await change(local, remote_key, std::move(*patch), "resizing the ShadowPod"));
  core::ResizeRefusal refusal;
  if (refused) {
    refusal = {.words = core::refusal_words(*refused), .may_pass = core::is_for_lack_of_room(*refused)};
  } else if (const auto stored = shadow_of(local, remote_key);
             stored && core::asks_otherwise(local.spec(), api::ShadowPod(*stored).pod_spec())) {
    // The provider drops the resources silently, so the patch would be sent again and again.
    refusal.words = core::resize_not_kept;
  }
  listeners_.refused.set_resize_waits(local.key(), refusal.may_pass);
  core::RefusedPod& pod = node_.memory.of(local).refused;
  if (refusal.words.empty()) {
    pod.resize_taken();
  } else if (pod.resize_refused(amounts, refusal, node_.context.clock.now())) {
    // The condition shows how the words change while it is refused, such as what is used of a quota.
    warn_refused(local, "resize", refusal.words);
  }
  co_return refusal;
}

void PodOrders::note_resized(const kube::Object& local, const kube::Object& shadow, const kube::Object& remote) {
  core::RefusedPod& pod = node_.memory.of(local).refused;
  pod.resize_kept();
  listeners_.refused.set_resize_waits(local.key(), false);
  // A completed resize may have freed room.
  if (pod.see_resized(shadow, remote)) listeners_.refused.ask_again();
}

asio::awaitable<kube::Result<std::string>> PodOrders::add_ephemeral(const kube::Object& local,
                                                                    kube::ObjectKey remote_key,
                                                                    const kube::Object& remote) {
  // Ephemeral containers cannot be removed, so a pod without any has nothing to send.
  if (kube::array_at(local.spec(), {"ephemeralContainers"}).empty()) co_return std::string();
  if (remote.is_deleting() || !core::takes_ephemeral(remote)) co_return std::string();
  // If there is no ShadowPod, the next one enqueues the pod.
  const auto shadow = shadow_of(local, remote_key);
  auto patch = shadow ? core::plan_shadow_ephemeral(local, *shadow, node_.forging) : std::nullopt;
  if (!patch) co_return std::string();
  constexpr std::string_view phase = "adding an ephemeral container to the ShadowPod";
  KUBE_CO_TRY(refused, co_await change(local, remote_key, std::move(*patch), phase));
  if (!refused) co_return std::string();
  // Rights may come back.
  if (core::is_for_lack_of_rights(*refused)) co_return kube::fail(std::move(*refused), phase);
  std::string words = core::refusal_words(*refused);
  warn_refused(local, "ephemeral container", words);
  co_return words;
}

void PodOrders::report_refusal(const kube::Object& local, const std::string& message) {
  // The condition shows how the words change while it is refused, such as what is used of a quota.
  if (!message.empty() && core::reported_refusal(local.status()).empty())
    node_.warn(local, reasons::failed_reflection, message);
}

}  // namespace liqo::controllers
