// The statuses of pods that the provider refuses, ends or does not run.
#include "core/common/json_values.hpp"
#include "core/offloading/final_status.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Whether containers get an end that nobody has seen.
bool has_unknown_ends(const Rejection& rejection) { return rejection.phase == "Failed" && !rejection.never_ran; }

void end_containers(json::object& status, std::string_view list, const Rejection& rejection, kube::WallTime now) {
  json::value* statuses = status.if_contains(list);
  if (!statuses || !statuses->is_array()) return;
  for (json::value& entry : statuses->get_array()) {
    if (!entry.is_object()) continue;
    json::object& container = entry.get_object();
    container["ready"] = false;
    if (container.contains("started")) container["started"] = false;
    if (rejection.phase != "Succeeded" && !has_unknown_ends(rejection)) continue;
    if (kube::find(entry, {"state", "terminated"})) continue;
    json::object ended{{"exitCode", 0}, {"reason", "Completed"}};
    if (rejection.phase == "Failed") ended = {{"exitCode", unknown_exit_code}, {"reason", container_status_unknown}};
    const std::string_view started = kube::string_at(entry, {"state", "running", "startedAt"});
    if (!started.empty()) {
      ended["startedAt"] = started;
      ended["finishedAt"] = kube::format_time(now);
    }
    container["state"] = json::object{{"terminated", std::move(ended)}};
  }
}

/// Gives each container of the spec a status: one that was never reported may have run.
void add_unreported(json::object& status, const kube::Object& local) {
  for (const json::value& container : kube::array_at(local.spec(), {"containers"})) {
    const std::string_view name = kube::string_at(container, {"name"});
    json::array& statuses = kube::ensure_array(status, "containerStatuses");
    if (find_named(statuses, name)) continue;
    statuses.push_back(json::object{{"name", name},
                                    {"image", kube::string_at(container, {"image"})},
                                    {"imageID", ""},
                                    {"ready", false},
                                    {"restartCount", 0}});
  }
}

/// The message of the condition Offloaded if it has this reason.
std::string_view told_as(const json::object& status, std::string_view reason) {
  const json::object* condition = kube::find_condition(status, api::offloaded_condition);
  if (!condition || kube::string_at(*condition, {"reason"}) != reason) return {};
  return kube::string_at(*condition, {"message"});
}

/// The condition of a pod that ended for no reason of its own, so that a Job's podFailurePolicy need not count it
/// (KEP-3329).
constexpr std::string_view disruption_target = "DisruptionTarget";

}  // namespace

WantedStatus forge_rejection(const kube::Object& local, const Rejection& rejection, kube::WallTime now) {
  const auto& [phase, reason, message, never_ran] = rejection;
  WantedStatus wanted{.status = local.status(), .labels = {}, .annotations = {}, .left_out = {}};
  json::object& status = wanted.status;
  status["phase"] = phase;
  status["reason"] = reason;
  if (!message.empty()) status["message"] = message;
  if (json::value* conditions = status.if_contains("conditions"); conditions && conditions->is_array())
    for (json::value& entry : conditions->get_array()) {
      if (!entry.is_object() || kube::string_at(entry, {"status"}) != "True") continue;
      if (kube::string_at(entry, {"type"}) == disruption_target) continue;
      json::object& condition = entry.get_object();
      condition["status"] = "False";
      condition["reason"] = reason;
      condition["lastTransitionTime"] = kube::format_time(now);
    }
  if (has_unknown_ends(rejection)) add_unreported(status, local);
  for (std::string_view list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"})
    end_containers(status, list, rejection, now);
  const bool is_unknown =
      reason == api::reasons::remote_terminated && phase == "Failed" && container_ends(local) != ContainerEnds::failed;
  if (reason == api::reasons::offloading_aborted || reason == api::reasons::remote_lost || is_unknown) {
    kube::set_condition(kube::ensure_array(status, "conditions"), local.status(),
                        {disruption_target, "True", reason, message}, now);
  }
  return wanted;
}

std::string refusal_words(const kube::Failure& failure) {
  if (!failure.status() || failure.status()->message.empty()) return failure.text();
  // The API server puts `admission webhook "…" denied the request: ` in front, which means nothing to a user.
  constexpr std::string_view begin = "admission webhook \"", end = "\" denied the request: ";
  std::string_view words = failure.status()->message;
  if (words.starts_with(begin))
    if (const std::size_t found = words.find(end); found != std::string_view::npos && found + end.size() < words.size())
      words.remove_prefix(found + end.size());
  return std::string(words);
}

std::string refusal_message(std::string_view provider, std::string_view words) {
  return "cluster " + std::string(provider) + " refuses the pod: " + kube::one_line(words, max_refusal);
}

std::string unsent_message(std::string_view provider, std::string_view words) {
  return "the pod is not sent to cluster " + std::string(provider) + ": " + kube::one_line(words, max_refusal);
}

WantedStatus forge_refusal(const kube::Object& local, std::string_view reason, std::string_view message,
                           kube::WallTime now) {
  WantedStatus wanted{.status = local.status(), .labels = {}, .annotations = {}, .left_out = {}};
  wanted.labels[api::labels::local_pod] = "true";
  kube::set_condition(kube::ensure_array(wanted.status, "conditions"), local.status(),
                      {api::offloaded_condition, "False", reason, message}, now);
  return wanted;
}

std::string_view reported_refusal(const json::object& status) {
  return told_as(status, api::reasons::offloading_refused);
}
std::string_view reported_warning(const json::object& status) {
  return told_as(status, api::reasons::remote_not_ready);
}

}  // namespace liqo::core
