// One ShadowPod and the Pod that it orders, in one reconcile.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <optional>

#include "controllers/common/context.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "controllers/offloading/shadow_pod_writer.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "controllers/offloading/twin_pod_maker.hpp"
#include "controllers/offloading/twin_pod_writer.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// The tools with which a ShadowPod is reconciled. They outlive it.
struct OrderTools {
  const Context& context;
  kube::Informer& pods;
  TwinConsumers& consumers;
  ShadowPodWriter& shadow_writer;
  TwinPodWriter& pod_writer;
  TwinPodMaker& maker;
  OrderMemories& memories;
};

/// A ShadowPod that exists, and its Pod. The caller keeps this object until reconcile() has ended.
class OrderedPod {
 public:
  /// `pod`: the Pod of its name; nothing if there is none.
  OrderedPod(OrderTools tools, kube::Object shadow, std::optional<kube::Object> pod);

  /// Plans what is to be done next, and does it.
  asio::awaitable<kube::Outcome> reconcile();

 private:
  core::ShadowSight sight() const { return {shadow_, pod_ ? &*pod_ : nullptr}; }
  core::OrderMemory& memory() { return tools_.memories[key_]; }
  /// The mapping of the addresses of its home's API server, or, if it is not known yet, the Outcome that ends the
  /// reconcile.
  asio::awaitable<std::expected<core::IpMapping, kube::Outcome>> await_mapping();
  /// Carries out the plan by the act() for its kind. The caller keeps the plan until that is done.
  asio::awaitable<kube::Outcome> carry_out(core::ShadowPlan& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::Nothing& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::Refuse& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::LeaveForeign& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::Release& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::RemovePod& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::RecordLoss& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::AwaitConfirmation& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::AwaitCreate& plan);
  asio::awaitable<kube::Outcome> act(const core::shadow_action::AwaitPod& plan);
  asio::awaitable<kube::Outcome> act(core::shadow_action::Create& plan);
  asio::awaitable<kube::Outcome> act(core::shadow_action::Keep& plan);
  /// The result of a step of Keep.
  struct Taken {
    std::optional<kube::Outcome> end = {};  ///< ends the reconcile: no further step is taken
    /// When the ShadowPod is to be looked at again after all steps.
    std::optional<kube::Duration> again_after = {};
  };
  asio::awaitable<kube::Result<Taken>> take(core::shadow_action::Report& step);
  asio::awaitable<kube::Result<Taken>> take(const core::shadow_action::PatchPod& step);
  asio::awaitable<kube::Result<Taken>> take(const core::shadow_action::Record& step);
  asio::awaitable<kube::Result<Taken>> take(const core::shadow_action::Release& step);
  asio::awaitable<kube::Result<Taken>> take(core::PodResize& step);
  asio::awaitable<kube::Result<Taken>> take(core::EphemeralAddition& step);
  asio::awaitable<kube::Result<Taken>> take(const core::shadow_action::AwaitNode& step);

  OrderTools tools_;
  const kube::Object shadow_;
  const std::optional<kube::Object> pod_;
  const kube::ObjectKey key_;
};

}  // namespace liqo::controllers
