#include "controllers/offloading/unmapped_pods.hpp"

#include <utility>

#include "core/offloading/node_debugger.hpp"
#include "core/offloading/pod_plan.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace reasons = api::reasons;

/// A namespace that is offloaded at its creation gets its twin moments after its first pods: the missing twin is
/// reported only after this time.
constexpr kube::Duration twin_patience = 5s;

}  // namespace

bool UnmappedPods::set_withdrawal(std::string withdrawal) {
  if (withdrawal_ == withdrawal) return false;
  withdrawal_ = std::move(withdrawal);
  return true;
}

asio::awaitable<Outcome> UnmappedPods::reconcile(kube::ObjectKey key, kube::Object local) {
  const std::string message =
      withdrawal_.empty() ? "Namespace " + key.ns + " has no twin in cluster " + node_.cluster() +
                                ": offload the namespace, or keep the pod off nodes labelled liqo.io/type=virtual-node "
                                "(liqoctl exclude daemonsets does that for a DaemonSet)"
                          : withdrawal_;
  const auto plan = core::plan_unmapped_pod(local, message, twins_.mapping().is_troubled(key.ns));
  if (plan == core::UnmappedPodPlan::nothing) co_return Outcome::done();
  if (plan == core::UnmappedPodPlan::refuse_node_debugger) co_return co_await end_node_debugger(std::move(local));
  if (plan == core::UnmappedPodPlan::back_off && withdrawal_.empty()) {
    RememberedPod& memory = node_.memory.of(key, local.uid());
    const kube::TimePoint now = node_.context.clock.now();
    const kube::Duration waited = now - memory.without_twin_since.value_or(now);
    if (!memory.without_twin_since) memory.without_twin_since = now;
    if (waited < twin_patience) co_return Outcome::again_after(twin_patience - waited);
  }
  if (plan == core::UnmappedPodPlan::remove_local) {
    KUBE_CO_TRYV(co_await ends_.remove_local(local));
    co_return Outcome::done();
  }
  const bool aborts = plan == core::UnmappedPodPlan::abort;
  auto wanted = core::forge_rejection(local,
                                      {.phase = aborts ? "Failed" : "Pending",
                                       .reason = aborts ? reasons::offloading_aborted : reasons::offloading_back_off,
                                       .message = message},
                                      node_.context.clock.wall());
  co_return co_await show(std::move(local), std::move(wanted), reasons::reflection_disabled, message);
}

asio::awaitable<Outcome> UnmappedPods::end_node_debugger(kube::Object local) {
  auto wanted = core::forge_node_debugger_refusal(local, node_.cluster(), node_.context.clock.wall());
  std::string message(kube::string_at(wanted.status, {"message"}));
  co_return co_await show(std::move(local), std::move(wanted), reasons::offloading_refused, std::move(message));
}

asio::awaitable<Outcome> UnmappedPods::show(kube::Object local, core::WantedStatus wanted, std::string_view reason,
                                            std::string message) {
  KUBE_CO_TRYV(co_await statuses_.write(local, std::move(wanted)));
  node_.warn(local, reason, std::move(message));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
