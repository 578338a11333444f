#include "core/offloading/pod_status.hpp"

#include <algorithm>
#include <utility>

#include "core/common/bounded.hpp"
#include "core/common/json_values.hpp"
#include "core/common/meta.hpp"
#include "core/common/resources.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/refusal_remedy.hpp"
#include "core/offloading/remote_warning.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

namespace annotations = api::annotations;

/// Longer texts of a provider are cut: the etcd at home would store them.
constexpr std::size_t max_text = 4096;
/// Conditions of the remote pod beyond these are left out.
constexpr std::size_t max_conditions = 100;
/// The most bytes of a status that are copied for its containers, and for its conditions; a tenth of that is large.
constexpr std::size_t max_containers_bytes = 128 << 10, max_conditions_bytes = 32 << 10;

/// Conditions that a kubelet sets: if the remote pod lacks one, the local pod must lack it too. PodScheduled is not
/// among them, because the local scheduler sets it before there is a remote pod.
constexpr std::string_view kubelet_conditions[] = {"Initialized",
                                                   "Ready",
                                                   "ContainersReady",
                                                   "PodReadyToStartContainers",
                                                   "PodResizePending",
                                                   "PodResizeInProgress",
                                                   api::offloaded_condition,
                                                   api::home_api_server_condition};
/// Longer types are not copied, because an annotation notes the copied ones.
constexpr std::size_t max_type = 200;

/// The most containers of one status that get an Event for their start.
constexpr std::size_t max_started = 16;

bool is_of_kubelet(std::string_view type) {
  return std::ranges::find(kubelet_conditions, type) != std::end(kubelet_conditions);
}

bool is_phase(std::string_view phase) {
  return phase == "Pending" || phase == "Running" || phase == "Unknown" || api::is_final_phase(phase);
}

bool has_gate(const kube::Object& local, std::string_view type) {
  for (const json::value& gate : kube::array_at(local.spec(), {"readinessGates"}))
    if (kube::string_at(gate, {"conditionType"}) == type) return true;
  return false;
}

/// The first readiness gate whose condition is not true at home; "" = none.
std::string_view open_gate(const kube::Object& local) {
  for (const json::value& gate : kube::array_at(local.spec(), {"readinessGates"})) {
    const std::string_view type = kube::string_at(gate, {"conditionType"});
    const json::object* condition = kube::find_condition(local.status(), type);
    if (!condition || kube::string_at(*condition, {"status"}) != "True") return type;
  }
  return {};
}

/// Copies the text if there is one, and returns how many bytes it took.
std::size_t copy_text(const json::object& from, json::object& to, std::string_view key, std::size_t most = max_text) {
  const std::string_view kept = kube::cut_text(kube::string_at(from, {key}), most);
  if (!kept.empty()) to[key] = kept;
  return kept.size();
}

std::int64_t restart_count(const json::array& statuses, std::string_view name, std::int64_t fallback) {
  const json::value* status = find_named(statuses, name);
  return status ? kube::int_at(*status, {"restartCount"}) : fallback;
}

/// Whether the pod shows that something of it has started. A pod that somebody has just created does not, even if it
/// was restored with the annotations of an earlier pod.
bool shows_start(const kube::Object& local) {
  const json::object& status = local.status();
  return status.contains("startTime") || status.contains("containerStatuses") ||
         status.contains("initContainerStatuses");
}

/// The number that is added to the restart counts of the remote pod, so that they never fall and each re-creation
/// counts as a restart. It is kept in annotations of the local pod, so that it survives a restart of liqod.
std::int64_t restart_offset(const kube::Object& local, const kube::Object& remote) {
  const json::array& have = kube::array_at(local.status(), {"containerStatuses"});
  const json::array& present = kube::array_at(remote.status(), {"containerStatuses"});
  const std::string_view name = have.empty() ? std::string_view() : kube::string_at(have.front(), {"name"});
  const std::int64_t shown = have.empty() ? 0 : kube::int_at(have.front(), {"restartCount"});
  const std::string_view known = local.annotation(annotations::remote_pod_uid);
  const std::int64_t offset = recorded_restarts(local);
  if (known == remote.uid()) return offset;
  // What the annotations say is of the pod from which this one was restored.
  if (!shows_start(local)) return 0;
  const std::int64_t difference = have.empty() ? 0 : shown - restart_count(present, name, shown);
  if (known.empty()) return std::max<std::int64_t>(0, difference);
  const std::int64_t restarts = have.empty() ? 0 : shown + 1 - restart_count(present, name, 0);
  return std::max(offset + 1, restarts);
}

/// The remote statuses with their restarts as home counts them. The offset is that of the container named `counted`:
/// the others, and sidecars, may have restarted more often before, and keep that count until they exceed it.
json::array container_statuses(const json::array& remote, const json::array& shown, std::string_view counted,
                               std::int64_t offset, Bounds& bounds) {
  json::array copied;
  for (const json::value& entry : remote) {
    if (copied.size() >= max_containers || bounds.left == 0) break;
    if (!entry.is_object()) continue;
    json::object& copy = copied.emplace_back(bounded(entry, bounds)).get_object();
    const std::int64_t count = std::clamp<std::int64_t>(kube::int_at(entry, {"restartCount"}), 0, INT32_MAX);
    const std::string_view name = kube::string_at(entry, {"name"});
    copy["restartCount"] = std::max(std::min<std::int64_t>(count + offset, INT32_MAX),
                                    name == counted ? 0 : restart_count(shown, name, 0));
  }
  return copied;
}

void set_addresses(const kube::Object& local, const kube::Object& remote, const StatusContext& ctx,
                   WantedStatus& wanted) {
  json::object& status = wanted.status;
  if (ctx.node_ip.empty()) {
    for (std::string_view key : {"hostIP", "hostIPs"})
      if (const json::value* have = local.status().if_contains(key)) status[key] = *have;
  } else {
    status["hostIP"] = ctx.node_ip;
    status["hostIPs"] = json::array{json::object{{"ip", ctx.node_ip}}};
  }
  if (!ctx.reflect_ips) return;
  if (!ctx.addresses) {
    for (std::string_view key : {"podIP", "podIPs"})
      if (const json::value* have = local.status().if_contains(key)) status[key] = *have;
    return;
  }
  json::array addresses;
  // For one invalid address, or two of one family, the API server refuses the whole status.
  bool has_family[2] = {};
  const auto add = [&](std::string_view text) {
    const auto reported = IpAddress::parse(text);
    if (!reported) return;
    const auto shown = ctx.addresses->shown(text);
    if (!shown && ctx.addresses->reports_left_out()) wanted.left_out = reported->text();
    if (!shown || std::exchange(has_family[shown->v6 ? 1 : 0], true)) return;
    addresses.push_back(json::object{{"ip", shown->text()}});
  };
  const json::array& all = kube::array_at(remote.status(), {"podIPs"});
  for (const json::value& entry : all) add(kube::string_at(entry, {"ip"}));
  if (all.empty()) add(kube::string_at(remote.status(), {"podIP"}));
  if (addresses.empty()) return;
  status["podIP"] = kube::string_at(addresses.front(), {"ip"});
  status["podIPs"] = std::move(addresses);
}

/// Why the pod must not be Ready although its containers may be; empty = no reason.
struct NotReady {
  std::string_view reason;
  std::string message;
};
NotReady not_ready(const kube::Object& local, const kube::Object* remote) {
  if (local.label(api::labels::remote_unavailable) == "true")
    return {api::reasons::remote_unavailable, "the cluster that runs the pod does not answer"};
  if (!remote) return {api::reasons::remote_missing, "the pod at the provider is gone"};
  if (remote->is_deleting() && !local.is_deleting())
    return {api::reasons::remote_missing, "the pod at the provider is being deleted"};
  if (const std::string_view gate = open_gate(local); !gate.empty())
    return {"ReadinessGatesNotReady", "the condition " + kube::in_quotes(gate) + " is not true"};
  return {};
}

json::object copy_condition(const json::object& remote, std::size_t& left) {
  json::object copy;
  for (std::string_view key : {"type", "status", "reason", "lastTransitionTime", "lastProbeTime", "message"})
    left -= copy_text(remote, copy, key, std::min(max_text, left));
  return copy;
}

/// The types that were copied and that neither a kubelet nor the scheduler sets at home.
std::string noted_types(const kube::Object& local, const json::array& wanted, const kube::Object& remote) {
  std::string noted;
  for (const json::value& entry : wanted) {
    const std::string_view type = kube::string_at(entry, {"type"});
    if (is_of_kubelet(type) || type == "PodScheduled" || has_gate(local, type) || type.contains(',') ||
        !kube::find_condition(remote.status(), type))
      continue;
    noted.append(noted.empty() ? "" : ",").append(type);
  }
  return noted;
}

/// The generation of the local pod that the provider has acted on, also by a refusal; 0 = unknown, for example because
/// the provider's Kubernetes does not report it.
std::int64_t observed_generation(const StatusObjects& of, const StatusContext& ctx) {
  const std::int64_t theirs = kube::int_at(of.remote->status(), {"observedGeneration"});
  if (theirs <= 0) return 0;
  const bool is_current =
      ctx.is_sent && of.shadow && has_all_of(*of.shadow, *of.remote) && theirs >= of.remote->generation();
  return is_current ? of.local.generation() : kube::int_at(of.local.status(), {"observedGeneration"});
}

json::array wanted_conditions(const StatusObjects& of, const StatusContext& ctx, std::int64_t observed,
                              kube::WallTime now) {
  const kube::Object &local = of.local, &remote = *of.remote;
  json::array wanted;
  std::size_t left = max_conditions_bytes;
  for (const json::value& entry : kube::array_at(remote.status(), {"conditions"})) {
    const std::string_view type = kube::string_at(entry, {"type"});
    if (type.empty() || type.size() > max_type || has_gate(local, type) || wanted.size() >= max_conditions) continue;
    if (left < max_text / 4) break;
    json::object copy = copy_condition(entry.get_object(), left);
    if (observed > 0 && kube::int_at(entry, {"observedGeneration"}) > 0) copy["observedGeneration"] = observed;
    wanted.push_back(std::move(copy));
  }
  const std::vector<std::string_view> copied_before =
      kube::split(local.annotation(annotations::remote_conditions), ',');
  for (const json::value& entry : kube::array_at(local.status(), {"conditions"})) {
    const std::string_view type = kube::string_at(entry, {"type"});
    if (type.empty() || kube::find_condition(wanted, type) || is_of_kubelet(type) ||
        std::ranges::find(copied_before, type) != copied_before.end())
      continue;
    wanted.push_back(entry);
  }
  if (!ctx.resize_refusal.words.empty() && !kube::find_condition(wanted, "PodResizePending"))
    kube::set_condition(wanted, local.status(),
                        {"PodResizePending", "True", ctx.resize_refusal.may_pass ? "Deferred" : "Infeasible",
                         "cluster " + ctx.provider +
                             " does not resize the pod: " + kube::one_line(ctx.resize_refusal.words, max_refusal)},
                        now);
  if (const NotReady why = not_ready(local, &remote); !why.reason.empty()) {
    const json::object* ready = kube::find_condition(wanted, "Ready");
    if (ready && kube::string_at(*ready, {"status"}) != "True" && why.reason != api::reasons::remote_unavailable)
      return wanted;  // the remote condition says why it is not ready
    if (ready || why.reason == api::reasons::remote_unavailable)
      kube::set_condition(wanted, local.status(), {"Ready", "False", why.reason, why.message}, now);
  }
  return wanted;
}

/// Adds the provider's warning while its pod is not ready. After a restart of liqod, the warning about this same pod
/// stays until the provider has been asked.
void add_warning(const StatusObjects& of, const StatusContext& ctx, kube::WallTime now, json::array& conditions) {
  const kube::Object &local = of.local, &remote = *of.remote;
  if (is_settled(remote) || kube::find_condition(conditions, api::offloaded_condition)) return;
  std::string message;
  if (!ctx.warning && local.annotation(annotations::remote_pod_uid) == remote.uid())
    message = reported_warning(local.status());
  else if (ctx.warning && !ctx.warning->empty())
    message = warning_message(ctx.provider, *ctx.warning);
  if (message.empty()) return;
  kube::set_condition(conditions, local.status(),
                      {api::offloaded_condition, "False", api::reasons::remote_not_ready, message}, now);
}

/// A kubelet sets a final phase on a pod that is being deleted, whatever becomes of the workload. If the provider makes
/// the pod again, the local pod has not ended.
std::string_view shown_phase(const kube::Object& local, const kube::Object& remote) {
  const std::string_view phase = api::phase_of(remote);
  const bool replaced = api::is_final_phase(phase) && !local.is_deleting() && is_made_again(remote);
  if (!replaced) return is_phase(phase) ? phase : api::phase_of(local);
  return api::phase_of(local).empty() ? std::string_view("Pending") : api::phase_of(local);
}

/// What is set aside for a pod that asks for amounts as a whole, by which a resize shows that it is done. An amount
/// that cannot be read would have the API server refuse the whole status.
void copy_pod_resources(const kube::Object& local, const json::object& from, json::object& status) {
  if (kube::object_at(local.spec(), {"resources"}).empty()) return;
  if (const auto set_aside = read_resources(kube::object_at(from, {"allocatedResources"}));
      set_aside && !set_aside->empty())
    status["allocatedResources"] = write_resources(*set_aside);
  for (std::string_view part : {"requests", "limits"})
    if (const auto actual = read_resources(kube::object_at(from, {"resources", part})); actual && !actual->empty())
      kube::ensure_object(status, "resources")[part] = write_resources(*actual);
}

/// The status while the remote pod exists.
WantedStatus copy_status(const StatusObjects& of, const StatusContext& ctx, kube::WallTime now) {
  const kube::Object &local = of.local, &remote = *of.remote;
  const json::object& from = remote.status();
  WantedStatus wanted;
  json::object& status = wanted.status;
  const std::string_view phase = shown_phase(local, remote);
  if (!phase.empty()) status["phase"] = phase;
  if (phase == api::phase_of(remote)) {
    copy_text(from, status, "reason");
    copy_text(from, status, "message");
  }
  // The pod has started once, whichever remote pod stands for it by now.
  copy_text(local.status(), status, "startTime");
  if (!status.contains("startTime")) copy_text(from, status, "startTime");
  const std::int64_t offset = restart_offset(local, remote);
  const json::array& have = kube::array_at(local.status(), {"containerStatuses"});
  const std::string_view counted = have.empty() ? std::string_view() : kube::string_at(have.front(), {"name"});
  Bounds bounds{.text = max_text, .left = max_containers_bytes};
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"})
    if (json::array all = container_statuses(kube::array_at(from, {list}), kube::array_at(local.status(), {list}),
                                             counted, offset, bounds);
        !all.empty())
      status[list] = std::move(all);
  copy_pod_resources(local, from, status);
  if (json::array all = ephemeral_statuses(of, ctx.provider, ctx.ephemeral_refusal); !all.empty())
    status["ephemeralContainerStatuses"] = std::move(all);
  set_addresses(local, remote, ctx, wanted);
  const std::int64_t observed = observed_generation(of, ctx);
  if (observed > 0) status["observedGeneration"] = observed;
  json::array conditions = wanted_conditions(of, ctx, observed, now);
  add_warning(of, ctx, now, conditions);
  if (!ctx.api_server_trouble.empty())
    kube::set_condition(
        conditions, local.status(),
        {api::home_api_server_condition, "False", api::reasons::address_unknown, ctx.api_server_trouble}, now);
  if (const std::string noted = noted_types(local, conditions, remote);
      noted != local.annotation(annotations::remote_conditions))
    wanted.annotations[annotations::remote_conditions] = noted.empty() ? json::value(nullptr) : json::value(noted);
  status["conditions"] = std::move(conditions);
  wanted.labels[api::labels::local_pod] = "true";
  if (!remote.uid().empty()) wanted.annotations[annotations::remote_pod_uid] = remote.uid();
  if (offset != recorded_restarts(local)) wanted.annotations[annotations::restart_offset] = std::to_string(offset);
  return wanted;
}

/// The status while the remote pod is missing and another one will come: only readiness is known to have changed.
std::optional<WantedStatus> missing_status(const kube::Object& local, kube::WallTime now) {
  const json::object* ready = kube::find_condition(local.status(), "Ready");
  if (!ready || kube::string_at(*ready, {"status"}) != "True") return std::nullopt;
  WantedStatus wanted{.status = local.status(), .labels = {}, .annotations = {}, .left_out = {}};
  json::value& conditions = wanted.status["conditions"];
  const NotReady why = not_ready(local, nullptr);
  for (std::string_view type : {"Ready", "ContainersReady"})
    if (kube::find_condition(local.status(), type))
      kube::set_condition(conditions.get_array(), local.status(), {type, "False", why.reason, why.message}, now);
  return wanted;
}

}  // namespace

std::vector<std::string> started_containers(const json::object& before, const kube::Object& after) {
  const auto start_of = [](const json::value& status) {
    const std::string_view running = kube::string_at(status, {"state", "running", "startedAt"});
    return running.empty() ? kube::string_at(status, {"state", "terminated", "startedAt"}) : running;
  };
  constexpr std::pair<std::string_view, std::string_view> lists[] = {
      {"initContainers", "initContainerStatuses"},
      {"containers", "containerStatuses"},
      {"ephemeralContainers", "ephemeralContainerStatuses"}};
  std::vector<std::string> started;
  for (const auto& [own, list] : lists)
    for (const json::value& status : kube::array_at(after.status(), {list})) {
      const std::string_view name = kube::string_at(status, {"name"}), start = start_of(status);
      if (start.empty() || started.size() >= max_started) continue;
      // A provider could make up other containers without end, and each would get an Event.
      const bool is_own = std::ranges::any_of(kube::array_at(after.spec(), {own}), [&](const json::value& container) {
        return kube::string_at(container, {"name"}) == name;
      });
      if (!is_own) continue;
      const bool is_known = std::ranges::any_of(kube::array_at(before, {list}), [&](const json::value& had) {
        return kube::string_at(had, {"name"}) == name &&
               (start_of(had) == start || kube::string_at(had, {"lastState", "terminated", "startedAt"}) == start);
      });
      if (!is_known) started.emplace_back(name);
    }
  return started;
}

std::optional<WantedStatus> forge_local_status(StatusObjects of, const StatusContext& ctx, kube::WallTime now) {
  const kube::Object& local = of.local;
  if (api::is_final_phase(api::phase_of(local))) return std::nullopt;
  if (of.remote && is_for_another(*of.remote, local)) of.remote = nullptr;
  if (of.shadow && is_for_another(*of.shadow, local)) of.shadow = nullptr;
  if (of.remote) return copy_status(of, ctx, now);
  if (of.shadow && api::ShadowPod(*of.shadow).is_finished())
    return forge_rejection(local,
                           {.phase = api::ShadowPod(*of.shadow).phase(),
                            .reason = api::reasons::remote_terminated,
                            .message = "the pod ended at the provider, and what it left there is gone"},
                           now);
  auto missing = missing_status(local, now);
  const std::string_view refusal = of.shadow ? of.shadow->annotation(annotations::refused) : std::string_view();
  if (refusal.empty()) return missing;
  kube::Object shown = local;
  if (missing) shown.mutable_status() = std::move(missing->status);
  return forge_refusal(shown, api::reasons::offloading_refused, refusal_with_remedy(std::string(ctx.provider), refusal),
                       now);
}

}  // namespace liqo::core
