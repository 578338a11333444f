#include "core/offloading/node_debugger.hpp"

#include <algorithm>
#include <string>

#include "core/offloading/refused_container.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace json = kube::json;

bool is_node_debugger(const kube::Object& pod) {
  if (pod.label(api::labels::app_managed_by) != "kubectl-debug" || !pod.name().starts_with("node-debugger-"))
    return false;
  const json::array& volumes = kube::array_at(pod.spec(), {"volumes"});
  return kube::bool_at(pod.spec(), {"hostPID"}) || kube::bool_at(pod.spec(), {"hostNetwork"}) ||
         std::ranges::any_of(volumes, [](const json::value& volume) { return kube::find(volume, {"hostPath"}); });
}

WantedStatus forge_node_debugger_refusal(const kube::Object& pod, std::string_view provider, kube::WallTime now) {
  const std::string message = "Node " + std::string(kube::string_at(pod.spec(), {"nodeName"})) +
                              " is virtual and has no files, processes or network to look at: debug one of its pods, "
                              "or a node of cluster " +
                              std::string(provider);
  WantedStatus wanted = forge_rejection(
      pod, {.phase = "Failed", .reason = api::reasons::offloading_refused, .message = message, .never_ran = true}, now);
  json::array statuses;
  for (const json::value& container : kube::array_at(pod.spec(), {"containers"}))
    statuses.push_back(refused_container(container, message));
  wanted.status["containerStatuses"] = std::move(statuses);
  return wanted;
}

}  // namespace liqo::core
