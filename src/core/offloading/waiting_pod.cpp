#include "core/offloading/waiting_pod.hpp"

#include <ranges>

#include "core/common/bounded.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/remote_warning.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// What the condition Offloaded says against the pod, without the cluster, which the sentence names already.
std::string_view reported_at_home(const AskedPod& asked) {
  const json::object* condition = kube::find_condition(asked.local.status(), api::offloaded_condition);
  if (!condition || kube::string_at(*condition, {"status"}) != "False") return {};
  std::string_view words = kube::string_at(*condition, {"message"});
  for (const std::string& begin : {refusal_message(asked.provider, ""), warning_message(asked.provider, "")})
    if (words.starts_with(begin)) words.remove_prefix(begin.size());
  return words;
}

/// "" = nothing is known but that there is no twin.
std::string why_absent(const AskedPod& asked) {
  const kube::Object& local = asked.local;
  const std::string_view message = kube::string_at(local.status(), {"message"}), phase = api::phase_of(local);
  if (api::is_final_phase(phase))
    return "it has ended (" + std::string(phase) + ")" + (message.empty() ? "" : ": " + std::string(message));
  if (local.is_deleting()) return "it is being deleted";
  if (const std::string_view reported = reported_at_home(asked); !reported.empty()) return std::string(reported);
  if (!message.empty() || !asked.has_twin) return std::string(message);
  return phase == "Running" ? "it is not there any more" : "it has not been created there yet";
}

std::string why_unplaced(const AskedPod& asked) {
  if (const std::string_view reported = reported_at_home(asked); !reported.empty()) return std::string(reported);
  const json::object* scheduled = kube::find_condition(asked.remote->status(), "PodScheduled");
  const std::string_view message = scheduled ? kube::string_at(*scheduled, {"message"}) : std::string_view();
  return message.empty() ? "it has no node there yet" : std::string(message);
}

std::string words_of(const AskedPod& asked, const json::value& waiting) {
  const std::string_view reason = kube::string_at(waiting, {"reason"});
  std::string_view message = kube::string_at(waiting, {"message"});
  if (message.empty()) message = reported_at_home(asked);
  if (reason.empty() || message.empty())
    return message.empty() && reason.empty() ? "it has not started yet" : std::string(message) + std::string(reason);
  return std::string(reason) + ": " + std::string(message);
}

bool is_there(const AskedPod& asked) { return asked.remote && !is_for_another(*asked.remote, asked.local); }

}  // namespace

std::string why_nothing_runs(const AskedPod& asked) {
  std::string why;
  if (!is_there(asked))
    why = why_absent(asked);
  else if (kube::string_at(asked.remote->spec(), {"nodeName"}).empty())
    why = why_unplaced(asked);
  else
    return {};
  if (why.empty())
    return "namespace " + std::string(asked.local.ns()) + " has no twin at cluster " + std::string(asked.provider) +
           ", so that pod " + std::string(asked.local.name()) + " cannot be reached there";
  return "pod " + asked.local.key().text() + " does not run at cluster " + std::string(asked.provider) + ": " +
         kube::one_line(why, max_refusal);
}

std::string why_container_waits(const AskedPod& asked, std::string_view container) {
  if (!is_there(asked) || container.empty()) return {};
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"})
    for (const json::value& status :
         kube::array_at(asked.remote->status(), {list}) | std::views::take(max_containers)) {
      if (kube::string_at(status, {"name"}) != container) continue;
      const json::value* state = kube::find(status, {"state", "waiting"});
      if (!state || kube::find(status, {"state", "running"})) continue;
      return "container " + kube::in_quotes(container) + " of pod " + asked.local.key().text() + " waits at cluster " +
             std::string(asked.provider) + ": " + kube::one_line(words_of(asked, *state), max_refusal);
    }
  return {};
}

PodObstacles find_obstacles(const AskedPod& asked, std::string_view container) {
  PodObstacles found;
  // Of a pod of `kubectl debug node/…`, which has no twin, the containers say more.
  if (!asked.has_twin) found.pod = why_refused(asked.local, "");
  if (found.pod.empty() && (asked.is_remote_known || !asked.has_twin)) found.pod = why_nothing_runs(asked);
  if (!found.pod.empty() || container.empty()) return found;
  found.refused = why_refused(asked.local, container);
  if (found.refused.empty()) found.waiting = why_container_waits(asked, container);
  return found;
}

}  // namespace liqo::core
