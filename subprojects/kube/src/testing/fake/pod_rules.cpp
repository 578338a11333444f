#include "pod_rules.hpp"

#include <array>
#include <set>

namespace kube::testing {

namespace {

void set_default(json::object& object, std::string_view key, json::value value) {
  object.emplace(key, std::move(value));
}

json::array* list_at(json::object& object, std::string_view key) {
  json::value* value = object.if_contains(key);
  return value ? value->if_array() : nullptr;
}

void default_container(json::object& container) {
  set_default(container, "resources", json::object());
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  const std::string_view image = string_at(container, {"image"});
  const std::size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash);
  const bool is_latest = !last.contains(':') || last.ends_with(":latest");
  set_default(container, "imagePullPolicy", is_latest ? "Always" : "IfNotPresent");
  if (json::array* ports = list_at(container, "ports"))
    for (json::value& port : *ports)
      if (json::object* fields = port.if_object()) set_default(*fields, "protocol", "TCP");
}

/// The spec without what may change, to compare the rest.
json::object frozen_part(const json::object& pod) {
  json::object spec = object_at(pod, {"spec"});
  for (std::string_view key : {"containers", "initContainers"})
    if (json::array* containers = list_at(spec, key))
      for (json::value& container : *containers)
        if (json::object* fields = container.if_object()) fields->erase("image");
  for (std::string_view key :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"})
    spec.erase(key);
  return spec;
}

bool has_element(const json::array& list, const json::value& element) {
  for (const json::value& have : list)
    if (have == element) return true;
  return false;
}

/// Whether each container that had ended for good has ended still.
bool keeps_ended(const json::array& before, const json::array& after, std::string_view policy) {
  if (policy == "Always") return true;
  for (const json::value& old : before) {
    if (object_at(old, {"state", "terminated"}).empty()) continue;
    if (policy == "OnFailure" && int_at(old, {"state", "terminated", "exitCode"}) != 0) continue;
    for (const json::value& now : after)
      if (string_at(now, {"name"}) == string_at(old, {"name"}) && object_at(now, {"state", "terminated"}).empty())
        return false;
  }
  return true;
}

}  // namespace

void default_pod(json::object& pod) {
  json::object& spec = ensure_object(pod, "spec");
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "securityContext", json::object());
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "enableServiceLinks", true);
  set_default(spec, "serviceAccountName", "default");
  set_default(spec, "serviceAccount", spec["serviceAccountName"]);
  set_default(spec, "priority", 0);
  set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
  for (std::string_view key : {"containers", "initContainers"})
    if (json::array* containers = list_at(spec, key))
      for (json::value& container : *containers)
        if (json::object* fields = container.if_object()) default_container(*fields);
  // What the admission plugin DefaultTolerationSeconds adds.
  if (!list_at(spec, "tolerations")) spec["tolerations"] = json::array();
  json::array& tolerations = spec["tolerations"].get_array();
  for (std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool tolerated = false;
    for (const json::value& toleration : tolerations) {
      const std::string_view have = string_at(toleration, {"key"});
      tolerated = tolerated || have == key || (have.empty() && string_at(toleration, {"operator"}) == "Exists");
    }
    if (!tolerated)
      tolerations.push_back(
          json::object{{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

std::string_view qos_class(const json::object& pod) {
  bool any = false, guaranteed = true;
  for (const json::value& container : array_at(pod, {"spec", "containers"})) {
    const json::object& requests = object_at(container, {"resources", "requests"});
    const json::object& limits = object_at(container, {"resources", "limits"});
    any = any || !requests.empty() || !limits.empty();
    for (std::string_view key : {"cpu", "memory"}) {
      const json::value* limit = limits.if_contains(key);
      const json::value* request = requests.if_contains(key);
      guaranteed = guaranteed && limit && (!request || *request == *limit);
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

Answer<> check_pod_spec_update(const FakeKind& kind, const json::object& before, const json::object& after) {
  const std::string_view name = string_at(before, {"metadata", "name"});
  if (frozen_part(before) != frozen_part(after))
    return refuse::invalid(
        {kind.group, kind.kind, name}, "spec",
        "Forbidden: of a pod's spec only images, activeDeadlineSeconds, terminationGracePeriodSeconds, "
        "tolerations (additions) and schedulingGates (removals) may be changed");
  const json::array& kept = array_at(after, {"spec", "tolerations"});
  for (const json::value& toleration : array_at(before, {"spec", "tolerations"}))
    if (!has_element(kept, toleration))
      return refuse::invalid({kind.group, kind.kind, name}, "spec.tolerations",
                             "Forbidden: existing tolerations may not be changed");
  const json::array& gates = array_at(before, {"spec", "schedulingGates"});
  for (const json::value& gate : array_at(after, {"spec", "schedulingGates"}))
    if (!has_element(gates, gate))
      return refuse::invalid({kind.group, kind.kind, name}, "spec.schedulingGates",
                             "Forbidden: only deletion is allowed, but found new scheduling gate '" +
                                 std::string(string_at(gate, {"name"})) + "'");
  return {};
}

Answer<> add_ephemeral_containers(const FakeKind& kind, const json::object& before, json::object& after) {
  const std::string_view name = string_at(before, {"metadata", "name"});
  const std::string_view path = "spec.ephemeralContainers";
  json::array wanted = array_at(after, {"spec", "ephemeralContainers"});
  std::set<std::string> taken;
  for (std::string_view list : {"containers", "initContainers"})
    for (const json::value& container : array_at(before, {"spec", list})) taken.emplace(string_at(container, {"name"}));
  for (json::value& entry : wanted) {
    json::object* container = entry.if_object();
    if (!container || !taken.emplace(string_at(entry, {"name"})).second)
      return refuse::invalid({kind.group, kind.kind, name}, path, "Duplicate value");
    for (std::string_view field : {"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
      if (container->contains(field))
        return refuse::invalid({kind.group, kind.kind, name}, path,
                               "Forbidden: cannot be set for an Ephemeral Container");
    if (!object_at(*container, {"resources"}).empty())
      return refuse::invalid({kind.group, kind.kind, name}, path,
                             "Forbidden: cannot be set for an Ephemeral Container");
    default_container(*container);
  }
  for (const json::value& have : array_at(before, {"spec", "ephemeralContainers"}))
    if (!has_element(wanted, have))
      return refuse::invalid({kind.group, kind.kind, name}, path,
                             "Forbidden: existing ephemeral containers may not be changed or removed");
  after = before;
  ensure_object(after, "spec")["ephemeralContainers"] = std::move(wanted);
  return {};
}

void keep_only_resources(const json::object& before, json::object& after) {
  json::object kept = before;
  for (std::string_view list : {"containers", "initContainers"}) {
    json::value* containers = ensure_object(kept, "spec").if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (json::value& container : containers->get_array())
      for (const json::value& wanted : array_at(after, {"spec", list}))
        if (const json::value* resources = find(wanted, {"resources"});
            resources && string_at(wanted, {"name"}) == string_at(container, {"name"}))
          container.as_object()["resources"] = *resources;
  }
  after = std::move(kept);
}

Answer<> check_pod_status_update(const FakeKind& kind, const json::object& before, const json::object& after) {
  const std::string_view name = string_at(before, {"metadata", "name"});
  const std::string_view qos = string_at(before, {"status", "qosClass"});
  if (!qos.empty() && string_at(after, {"status", "qosClass"}) != qos)
    return refuse::invalid({kind.group, kind.kind, name}, "status.qosClass", "Invalid value: field is immutable");
  const std::string_view policy = string_at(before, {"spec", "restartPolicy"});
  // An ephemeral container never starts again, whatever the policy of the pod.
  for (const auto& [list, restarts] :
       {std::pair("ephemeralContainerStatuses", std::string_view("Never")), std::pair("containerStatuses", policy)})
    if (!keeps_ended(array_at(before, {"status", list}), array_at(after, {"status", list}), restarts))
      return refuse::invalid({kind.group, kind.kind, name}, "status." + std::string(list) + ".state",
                             "Forbidden: may not be transitioned to non-terminated state");
  return {};
}

}  // namespace kube::testing
