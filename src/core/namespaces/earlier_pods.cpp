#include "core/namespaces/earlier_pods.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/pod_scheduling.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;

EarlierPodPlan plan_earlier_pod(const kube::Object& pod, const api::NamespaceOffloading& offloading) {
  using namespace earlier_pod_action;
  if (pod.is_deleting() || api::is_final_phase(api::phase_of(pod))) return Keep{};
  auto patch = plan_pod_scheduling(pod.tree(), offloading);
  if (patch && patch->empty()) return Keep{};
  if (!kube::string_at(pod.spec(), {"nodeName"}).empty()) {
    // A pod on a local node is right if the strategy allows local nodes.
    const bool is_right = offloading.pod_strategy() == api::PodOffloadingStrategy::local_and_remote;
    return is_right ? EarlierPodPlan(Keep{}) : LeavePlaced{};
  }
  const bool is_gated = !kube::array_at(pod.spec(), {"schedulingGates"}).empty();
  const auto moves = [](const json::value& step) {
    return kube::string_at(step, {"path"}).starts_with("/spec/affinity");
  };
  if (!patch || (!is_gated && std::ranges::any_of(*patch, moves))) return LeaveWaiting{};
  json::array checked{json::object{{"op", "test"}, {"path", "/metadata/uid"}, {"value", pod.uid()}}};
  for (json::value& step : *patch) checked.push_back(std::move(step));
  return Patch{std::move(checked)};
}

std::string describe_earlier_pods(const EarlierPods& pods, api::PodOffloadingStrategy strategy) {
  if (pods.placed + pods.waiting == 0) return {};
  std::string text =
      "the podOffloadingStrategy does not count for pods that were created before the namespace was extended: ";
  if (pods.placed > 0) text += std::to_string(pods.placed) + " have a node already, where they stay";
  if (pods.placed > 0 && pods.waiting > 0) text += "; ";
  if (pods.waiting > 0)
    text += std::to_string(pods.waiting) +
            (strategy == api::PodOffloadingStrategy::remote ? " wait for a node and may get one of this cluster"
                                                            : " wait for a node and get only one of this cluster") +
            ", because Kubernetes lets nobody change the node affinity of a pod without scheduling gates";
  return text + "; create them anew to have it count (kubectl rollout restart)";
}

}  // namespace liqo::core
