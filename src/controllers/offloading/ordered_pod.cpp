#include "controllers/offloading/ordered_pod.hpp"

#include "core/offloading/provider_pod.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace action = core::shadow_action;

/// The reason of the Event on a ShadowPod that came late.
constexpr std::string_view order_expired = "OrderExpired";

}  // namespace

OrderedPod::OrderedPod(OrderTools tools, kube::Object shadow, std::optional<kube::Object> pod)
    : tools_(tools), shadow_(std::move(shadow)), pod_(std::move(pod)), key_(shadow_.key()) {}

asio::awaitable<Outcome> OrderedPod::reconcile() {
  core::IpMapping mapping;
  if (!pod_ && !shadow_.is_deleting() && !core::home_api_server_addresses(shadow_).empty()) {
    auto read = co_await await_mapping();
    if (!read) co_return std::move(read.error());
    mapping = std::move(*read);
  }
  core::ShadowPlan plan =
      core::plan_shadow_pod(sight(), memory().seen(), &mapping, tools_.consumers.policy_of(key_.ns));
  co_return co_await carry_out(plan);
}

asio::awaitable<std::expected<core::IpMapping, Outcome>> OrderedPod::await_mapping() {
  if (!tools_.consumers.knows_addresses()) co_return std::unexpected(Outcome::again_after(TwinPodMaker::cache_pause));
  auto read = tools_.consumers.api_server_mapping(shadow_);
  if (read) co_return std::move(*read);
  auto reported = co_await tools_.shadow_writer.report(
      shadow_, "the address of the API server of its home is not known here: " + read.error().text());
  co_return std::unexpected(reported ? Outcome::again_after(30s) : Outcome::retry(std::move(reported.error())));
}

asio::awaitable<Outcome> OrderedPod::carry_out(core::ShadowPlan& plan) {
  return std::visit([&](auto& part) { return act(part); }, plan);
}

asio::awaitable<Outcome> OrderedPod::act(const action::Nothing&) { co_return Outcome::done(); }

asio::awaitable<Outcome> OrderedPod::act(const action::Refuse& refusal) {
  co_return co_await tools_.shadow_writer.refuse(shadow_, refusal.words);
}

asio::awaitable<Outcome> OrderedPod::act(const action::LeaveForeign& plan) {
  if (plan.release) {
    KUBE_CO_TRYV(co_await tools_.pod_writer.release(*pod_, true));
  }
  if (plan.refusal.empty()) co_return Outcome::done();
  co_return co_await tools_.shadow_writer.refuse(shadow_, plan.refusal);
}

asio::awaitable<Outcome> OrderedPod::act(const action::Release&) {
  KUBE_CO_TRYV(co_await tools_.pod_writer.release(*pod_, false));
  co_return Outcome::done();
}

asio::awaitable<Outcome> OrderedPod::act(const action::RemovePod& plan) {
  if (plan.release) {
    KUBE_CO_TRYV(co_await tools_.pod_writer.release(*pod_, false));
  }
  KUBE_CO_TRYV(co_await kube::remove_object(
      tools_.context.home.api(), kube::resources::pods, key_,
      {.options = {.uid = std::string(pod_->uid()), .grace_period_seconds = plan.grace_seconds},
       .phase = "removing the pod of a ShadowPod that is deleted"}));
  co_return Outcome::done();
}

asio::awaitable<Outcome> OrderedPod::act(const action::RecordLoss& plan) {
  KUBE_CO_TRY(live, co_await kube::find_live(tools_.context.home.api(), kube::resources::pods, key_),
              "reading the pod that seems to be gone");
  if (const auto controller = live ? live->controller() : std::nullopt;
      controller && controller->uid == shadow_.uid()) {
    tools_.pods.observe(std::move(*live));
    co_return Outcome::again_after(core::unseen_time);
  }
  KUBE_CO_TRYV(co_await tools_.shadow_writer.record(key_, plan.status));
  co_return Outcome::done();
}

asio::awaitable<Outcome> OrderedPod::act(const action::AwaitConfirmation&) {
  if (const kube::Duration left = memory().await_confirmation(tools_.context.clock.now()); left > 0ms)
    co_return Outcome::again_after(left);
  tools_.context.events.warning(
      shadow_, api::kinds::shadow_pods, order_expired,
      "the order of this pod came late, and its consumer has not confirmed it for five minutes: it "
      "is removed, and ordered again if the consumer still has the pod");
  // A confirmation that has come meanwhile is another version.
  KUBE_CO_TRYV(co_await kube::remove_object(
      tools_.context.home.api(), api::kinds::shadow_pods, key_,
      {.options = {.uid = std::string(shadow_.uid()), .resource_version = std::string(shadow_.resource_version())},
       .phase = "removing an order that came late"}));
  co_return Outcome::done();
}

asio::awaitable<Outcome> OrderedPod::act(const action::AwaitCreate&) {
  co_return Outcome::again_after(memory().left_of_doubt(tools_.context.clock.now()));
}

asio::awaitable<Outcome> OrderedPod::act(const action::AwaitPod&) {
  if (const kube::Duration left = memory().left_unseen(tools_.context.clock.now()); left > 0ms)
    co_return Outcome::again_after(left);
  KUBE_CO_TRY(live, co_await kube::find_live(tools_.context.home.api(), kube::resources::pods, key_),
              "looking whether the pod is there");
  if (live)
    tools_.pods.observe(std::move(*live));
  else
    memory().note_vanished();
  co_return Outcome::again_after(0ms);
}

asio::awaitable<Outcome> OrderedPod::act(action::Create& plan) {
  if (plan.confirm_first) {
    KUBE_CO_TRY(live, co_await kube::find_live(tools_.context.home.api(), api::kinds::shadow_pods, key_),
                "reading the ShadowPod");
    // An event of the ShadowPod enqueues the key, or removes the ShadowPod from the cache.
    if (!live || live->uid() != shadow_.uid() || live->is_deleting()) co_return Outcome::done();
  }
  auto made = co_await tools_.maker.make(shadow_, plan.pod);
  if (!made.foreign) co_return std::move(made.outcome);
  OrderedPod other(tools_, shadow_, std::move(made.foreign));
  core::ShadowPlan leave = core::plan_shadow_pod(other.sight(), core::ShadowMemory());
  co_return co_await other.carry_out(leave);
}

asio::awaitable<Outcome> OrderedPod::act(action::Keep& plan) {
  std::optional<kube::Duration> again_after;
  for (action::Step& step : plan.steps) {
    KUBE_CO_TRY(taken, co_await std::visit([&](auto& part) { return take(part); }, step));
    if (taken.end) co_return std::move(*taken.end);
    if (taken.again_after) again_after = taken.again_after;
  }
  co_return again_after ? Outcome::again_after(*again_after) : Outcome::done();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(action::Report& step) {
  KUBE_CO_TRYV(co_await tools_.shadow_writer.write_reported(key_, std::move(step.patch)));
  co_return Taken();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(const action::PatchPod& step) {
  KUBE_CO_TRYV(co_await tools_.pod_writer.patch(shadow_, step.patch));
  co_return Taken();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(const action::Record& step) {
  if (step.may_wait) {
    tools_.shadow_writer.record_later(key_);
    co_return Taken();
  }
  KUBE_CO_TRY(recorded, co_await tools_.shadow_writer.record(key_, step.status));
  // The pod is not released without its record. If the ShadowPod is gone, its own event enqueues the key.
  if (!recorded) co_return Taken{.end = Outcome::done()};
  co_return Taken();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(const action::Release&) {
  KUBE_CO_TRYV(co_await tools_.pod_writer.release(*pod_, false));
  co_return Taken();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(core::PodResize& step) {
  KUBE_CO_TRY(left, co_await tools_.pod_writer.resize(shadow_, *pod_, std::move(step)));
  // The change of the Pod enqueues the ShadowPod.
  if (!left) co_return Taken{.end = Outcome::done()};
  co_return Taken{.again_after = left};
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(core::EphemeralAddition& step) {
  KUBE_CO_TRYV(co_await tools_.pod_writer.add_ephemeral(shadow_, *pod_, std::move(step)));
  co_return Taken();
}

asio::awaitable<kube::Result<OrderedPod::Taken>> OrderedPod::take(const action::AwaitNode&) {
  co_return Taken{.again_after = memory().await_node(pod_->uid(), tools_.context.clock.now())};
}

}  // namespace liqo::controllers
