#include "kube/testing/fake/kubelet.hpp"

#include "kube/base/scalar.hpp"
#include "semantics.hpp"

namespace kube::testing {

namespace {

std::optional<std::int64_t> annotation(const json::object& pod, std::string_view key) {
  return read_number<std::int64_t>(string_at(pod, {"metadata", "annotations", key}));
}

std::int64_t restarts_of(const json::object& pod) {
  const json::array& statuses = array_at(pod, {"status", "containerStatuses"});
  return statuses.empty() ? 0 : int_at(statuses[0], {"restartCount"});
}

struct Condition {
  std::string_view type;
  bool holds = false;
  std::string_view reason = {};
};

void set_condition(json::object& status, const Condition& wanted, std::string_view now) {
  const auto& [type, holds, reason] = wanted;
  json::array& conditions = ensure_array(status, "conditions");
  json::object condition{
      {"type", type}, {"status", holds ? "True" : "False"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", now}};
  if (!reason.empty()) condition["reason"] = reason;
  for (json::value& have : conditions)
    if (string_at(have, {"type"}) == type) {
      if (string_at(have, {"status"}) != string_at(condition, {"status"})) have = condition;
      return;
    }
  conditions.push_back(std::move(condition));
}

json::object terminated(std::int64_t code, std::string_view started, std::string_view now, std::string_view id) {
  return {{"exitCode", code},
          {"reason", code == 0 ? "Completed" : "Error"},
          {"startedAt", started},
          {"finishedAt", now},
          {"containerID", id}};
}

json::object running_container(const json::value& container, std::string_view id, std::string_view started) {
  return {{"name", string_at(container, {"name"})},
          {"image", string_at(container, {"image"})},
          {"imageID", "sha256:" + std::string(string_at(container, {"image"}))},
          {"containerID", id},
          {"state", json::object{{"running", json::object{{"startedAt", started}}}}},
          {"lastState", json::object()},
          {"ready", true},
          {"started", true},
          {"restartCount", 0}};
}

json::array running_statuses(const json::object& pod, std::string_view started) {
  const std::string prefix = "containerd://" + std::string(string_at(pod, {"metadata", "uid"})) + "/";
  json::array statuses;
  for (const json::value& container : array_at(pod, {"spec", "containers"}))
    statuses.push_back(
        running_container(container, prefix + std::string(string_at(container, {"name"})) + "/0", started));
  return statuses;
}

/// Turns running containers into ended ones.
void terminate(json::object& status, std::int64_t code, std::string_view now) {
  json::value* statuses = status.if_contains("containerStatuses");
  if (!statuses || !statuses->is_array()) return;
  for (json::value& entry : statuses->get_array()) {
    json::object* container = entry.if_object();
    if (!container || !object_at(*container, {"state", "terminated"}).empty()) continue;
    const std::string started(string_at(*container, {"state", "running", "startedAt"}));
    (*container)["state"] =
        json::object{{"terminated", terminated(code, started, now, string_at(*container, {"containerID"}))}};
    (*container)["ready"] = false;
    (*container)["started"] = false;
  }
}

}  // namespace

FakeKubelet::FakeKubelet(Simulator& simulator, FakeApiServer& server, FakeKubeletSettings settings)
    : simulator_(simulator), server_(server), settings_(std::move(settings)), random_(simulator.random().next()) {
  server_.store().on_change([this](const FakeChange& change) { seen(change); });
}

void FakeKubelet::seen(const FakeChange& change) {
  if (!is_core(*change.kind, "pods")) return;
  const json::object& pod = *change.after;
  const std::string uid(string_at(pod, {"metadata", "uid"}));
  if (change.type == ChangeType::deleted) {
    stopping_.erase(uid);
    unreported_.erase(uid);
    return;
  }
  const std::string_view node = string_at(pod, {"spec", "nodeName"});
  if (node.empty() || !node.starts_with(settings_.node_prefix)) return;
  const auto [known, is_new] = stopping_.emplace(uid, false);
  const ObjectKey key = change.key;
  if (is_deleting(pod)) {
    if (known->second) return;
    known->second = true;
    const Duration grace = std::chrono::seconds(int_at(pod, {"metadata", "deletionGracePeriodSeconds"}));
    const Duration delay = std::min(random_.between(settings_.stop_low, settings_.stop_high), grace);
    simulator_.clock().call_in(delay, [this, key, uid] { stop(key, uid); });
  } else if (is_new && !is_finished(pod)) {
    simulator_.clock().call_in(random_.between(settings_.start_low, settings_.start_high),
                               [this, key, uid] { start(key, uid); });
  }
}

Tree FakeKubelet::pod(const ObjectKey& key, std::string_view uid) {
  Tree found = server_.get(resources::pods, key);
  return found && string_at(*found, {"metadata", "uid"}) == uid ? found : nullptr;
}

void FakeKubelet::write_status(const ObjectKey& key, const std::function<void(json::object&)>& change) {
  static_cast<void>(server_.update(
      {resources::pods, key, "status"}, [&change](json::object& next) { change(ensure_object(next, "status")); },
      actor));
}

void FakeKubelet::start(const ObjectKey& key, const std::string& uid) {
  const Tree before = pod(key, uid);
  if (!before || is_finished(*before) || is_deleting(*before)) return;
  const std::string now = format_time(simulator_.clock().wall());
  runs_.push_back({simulator_.clock().now(), before});
  unreported_.insert(uid);
  if (settings_.report_high <= Duration::zero()) return report_start(key, uid, now);
  simulator_.clock().call_in(random_.between(Duration::zero(), settings_.report_high),
                             [this, key, uid, now] { report_start(key, uid, now); });
}

void FakeKubelet::report_start(const ObjectKey& key, const std::string& uid, const std::string& now) {
  const Tree before = pod(key, uid);
  if (!before || unreported_.erase(uid) == 0) return;
  const int ip = ++next_ip_;
  const std::string address = "10.200." + std::to_string(ip / 250) + "." + std::to_string(ip % 250 + 1);
  write_status(key, [&](json::object& status) {
    status["phase"] = "Running";
    status["hostIP"] = "172.18.0.9";
    status["hostIPs"] = json::array{json::object{{"ip", "172.18.0.9"}}};
    status["podIP"] = address;
    status["podIPs"] = json::array{json::object{{"ip", address}}};
    status["startTime"] = now;
    status["containerStatuses"] = running_statuses(*before, now);
    for (std::string_view type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"})
      set_condition(status, {type, true}, now);
  });
  end_later(key, *before, 0);
}

void FakeKubelet::end_later(const ObjectKey& key, const json::object& before, std::int64_t restarts) {
  const auto seconds = annotation(before, run_seconds);
  const auto max_seconds = std::chrono::floor<std::chrono::seconds>(TimePoint::max() - simulator_.clock().now());
  if (!seconds || *seconds < 0 || *seconds > max_seconds.count()) return;
  // Restarts without end at one instant would keep the clock from moving on.
  const std::chrono::seconds length(restarts == 0 ? *seconds : std::max<std::int64_t>(*seconds, 1));
  const std::int64_t code = restarts == 0 ? annotation(before, exit_code).value_or(0) : 0;
  simulator_.clock().call_in(length, [this, key, uid = std::string(string_at(before, {"metadata", "uid"})), restarts,
                                      code] { end(key, uid, restarts, code); });
}

void FakeKubelet::end_containers(const ObjectKey& key, std::int64_t code) {
  const Tree now = server_.get(resources::pods, key);
  if (now && string_at(*now, {"status", "phase"}) == "Running")
    end(key, std::string(string_at(*now, {"metadata", "uid"})), restarts_of(*now), code);
}

void FakeKubelet::end(const ObjectKey& key, const std::string& uid, std::int64_t generation, std::int64_t code) {
  const Tree before = pod(key, uid);
  if (!before || is_finished(*before) || restarts_of(*before) != generation) return;
  const std::string now = format_time(simulator_.clock().wall());
  const std::string_view policy = string_at(*before, {"spec", "restartPolicy"});
  const bool restarts = policy == "Always" || (policy == "OnFailure" && code != 0);
  // A container that ends while its pod is being stopped is not started again.
  if (restarts && is_deleting(*before)) return;
  write_status(key, [&](json::object& status) {
    if (!restarts) {
      terminate(status, code, now);
      status["phase"] = code == 0 ? "Succeeded" : "Failed";
      set_condition(status, {"ContainersReady", false, code == 0 ? "PodCompleted" : "PodFailed"}, now);
      set_condition(status, {"Ready", false, code == 0 ? "PodCompleted" : "PodFailed"}, now);
      return;
    }
    json::value& statuses = status["containerStatuses"];
    if (!statuses.is_array()) return;
    for (json::value& entry : statuses.get_array()) {
      json::object* container = entry.if_object();
      if (!container) continue;
      const std::string old_id(string_at(*container, {"containerID"}));
      const std::string started(string_at(*container, {"state", "running", "startedAt"}));
      (*container)["lastState"] = json::object{{"terminated", terminated(code, started, now, old_id)}};
      (*container)["state"] = json::object{{"running", json::object{{"startedAt", now}}}};
      (*container)["restartCount"] = generation + 1;
      (*container)["containerID"] = old_id.substr(0, old_id.rfind('/') + 1) + std::to_string(generation + 1);
    }
  });
  if (restarts) end_later(key, *before, generation + 1);
}

void FakeKubelet::evict(const ObjectKey& key) {
  const Tree before = server_.get(resources::pods, key);
  if (!before || is_finished(*before)) return;
  const std::string now = format_time(simulator_.clock().wall());
  write_status(key, [&](json::object& status) {
    terminate(status, 137, now);
    status["phase"] = "Failed";
    status["reason"] = "Evicted";
    status["message"] = "The node was low on resource: memory.";
    set_condition(status, {"Ready", false, "PodFailed"}, now);
  });
}

void FakeKubelet::stop(const ObjectKey& key, const std::string& uid) {
  const Tree before = pod(key, uid);
  if (!before) return;
  const std::string now = format_time(simulator_.clock().wall());
  if (!is_finished(*before)) {
    // A kubelet reports a stopped pod as ended before it lets go of it, whatever its restart policy.
    const bool is_unreported = unreported_.erase(uid) > 0;
    const bool has_run = is_unreported || !array_at(*before, {"status", "containerStatuses"}).empty();
    const std::int64_t code = random_.chance(0.5) && has_run ? 0 : 143;
    write_status(key, [&](json::object& status) {
      if (is_unreported) status["containerStatuses"] = running_statuses(*before, now);
      terminate(status, code, now);
      status["phase"] = code == 0 ? "Succeeded" : "Failed";
      set_condition(status, {"ContainersReady", false, "PodCompleted"}, now);
      set_condition(status, {"Ready", false, "PodCompleted"}, now);
    });
  }
  simulator_.clock().call_in(random_.between(std::chrono::milliseconds(1), std::chrono::milliseconds(200)),
                             [this, key, uid] {
                               DeleteOptions options;
                               options.uid = uid;
                               options.grace_period_seconds = 0;
                               static_cast<void>(server_.remove(resources::pods, key, options, actor));
                             });
}

}  // namespace kube::testing
