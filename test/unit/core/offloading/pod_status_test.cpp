// The status of a pod at home: copied, rejected, and written with as little as possible.
#include "core/offloading/pod_status.hpp"

#include "../objects.hpp"
#include "core/offloading/provider_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object remote(std::string_view status, std::string_view uid = "r1", bool deleting = false) {
  return reflected("Pod", uid, "u1", status, deleting);
}
kube::Object shadow(std::string_view phase) {
  return reflected("ShadowPod", "s1", "u1", R"({"phase": ")" + std::string(phase) + R"("})");
}

/// What a write makes of the pod, as an API server would: here only for the forms that our patches use.
kube::Object written(const kube::Object& local, const WantedStatus& wanted) {
  kube::Object after = local;
  after.mutable_status() = wanted.status;
  for (const auto& [key, value] : wanted.labels) after.set_label(key, value.as_string());
  for (const auto& [key, value] : wanted.annotations) after.set_annotation(key, value.as_string());
  return after;
}

const char* const running = R"({"phase": "Running", "podIP": "192.168.200.25", "podIPs": [{"ip": "192.168.200.25"}],
  "hostIP": "10.9.9.9", "hostIPs": [{"ip": "10.9.9.9"}], "qosClass": "Burstable", "nominatedNodeName": "n7",
  "observedGeneration": 4, "startTime": "2026-11-21T09:00:00Z",
  "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-11-21T09:00:02Z",
                  "observedGeneration": 4},
                 {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-21T09:00:00Z"}],
  "containerStatuses": [{"name": "main", "ready": true, "restartCount": 1, "state": {"running": {}}}]})";

WantedStatus status_of(const kube::Object& local, const kube::Object& remote_pod, const StatusContext& ctx = {}) {
  auto wanted = forge_local_status({.local = local, .remote = &remote_pod}, ctx, at());
  REQUIRE(wanted.has_value());
  return std::move(*wanted);
}

/// What is declared about a provider: ranges, and a Configuration that maps `from` to `to`.
PeerAddresses addresses(std::string_view declared, std::string_view from = "", std::string_view to = "") {
  kube::Object peer = parse(R"({"metadata": {"name": "milan"}, "spec": {"clusterID": "milan"}})");
  if (!declared.empty()) peer.set_annotation("liqo.io/remote-pod-cidrs", std::string(declared));
  if (from.empty()) return PeerAddresses::of(peer, {}, {});
  const auto ranges = [](std::string_view list) {
    return R"({"remote": {"cidr": {"pod": [)" + std::string(list) + "]}}";
  };
  const std::vector<kube::Object> configurations{
      parse(R"({"metadata": {"name": "milan"}, "spec": )" + ranges(from) + R"(}, "status": )" + ranges(to) +
            R"(, "conditions": [{"type": "NetworkCIDRsConfigured", "status": "True"}]}})")};
  return PeerAddresses::of(peer, configurations, {});
}

std::string_view condition(const json::object& status, std::string_view type, std::string_view field) {
  for (const json::value& entry : kube::array_at(status, {"conditions"}))
    if (kube::string_at(entry, {"type"}) == type) return kube::string_at(entry, {field});
  return "(none)";
}

std::int64_t restarts(const json::object& status) {
  return kube::int_at(kube::array_at(status, {"containerStatuses"}).at(0), {"restartCount"});
}

}  // namespace

TEST_CASE("the remote status comes home with addresses and restarts as they are seen here") {
  const auto ips = addresses("", R"("192.168.200.0/24")", R"("192.168.201.0/24")");
  const auto wanted = status_of(local_pod(R"({"phase": "Pending", "qosClass": "BestEffort"})"), remote(running),
                                {.node_ip = "172.18.0.4", .addresses = &ips});
  CHECK(kube::string_at(wanted.status, {"phase"}) == "Running");
  CHECK(kube::string_at(wanted.status, {"podIP"}) == "192.168.201.25");
  CHECK(json::serialize(wanted.status.at("podIPs")) == R"([{"ip":"192.168.201.25"}])");
  CHECK(kube::string_at(wanted.status, {"hostIP"}) == "172.18.0.4");
  CHECK(json::serialize(wanted.status.at("hostIPs")) == R"([{"ip":"172.18.0.4"}])");
  CHECK(restarts(wanted.status) == 1);
  CHECK(kube::string_at(wanted.status, {"startTime"}) == "2026-11-21T09:00:00Z");
  for (const char* not_ours : {"qosClass", "nominatedNodeName", "observedGeneration"}) {
    CAPTURE(not_ours);
    CHECK_FALSE(wanted.status.contains(not_ours));
  }
  CHECK(condition(wanted.status, "Ready", "status") == "True");
  CHECK(json::serialize(wanted.labels) == R"({"liqo.io/shadowPod":"true"})");
  CHECK(json::serialize(wanted.annotations) == R"({"offloading.liqo.io/remote-pod-uid":"r1"})");
}

TEST_CASE("both families of addresses are remapped, and what is no address is left out") {
  const auto ips = addresses("", R"("10.0.0.0/16", "fd00:1::/64")", R"("10.1.0.0/16", "fd00:2::/64")");
  const auto local = local_pod();
  const auto both = status_of(
      local,
      remote(R"({"phase": "Running", "podIP": "10.0.0.5", "podIPs": [{"ip": "10.0.0.5"}, {"ip": "fd00:1::5"}]})"),
      {.addresses = &ips});
  CHECK(json::serialize(both.status.at("podIPs")) == R"([{"ip":"10.1.0.5"},{"ip":"fd00:2::5"}])");
  const auto twice =
      status_of(local, remote(R"({"phase": "Running", "podIPs": [{"ip": "10.0.0.5"}, {"ip": "10.0.0.6"}]})"),
                {.addresses = &ips});
  CHECK(json::serialize(twice.status.at("podIPs")) == R"([{"ip":"10.1.0.5"}])");
  const auto garbage = status_of(
      local, remote(R"({"phase": "Running", "podIP": "rm -rf", "podIPs": [{"ip": 5}, "x"]})"), {.addresses = &ips});
  CHECK(garbage.left_out.empty());
  CHECK_FALSE(garbage.status.contains("podIP"));
  CHECK_FALSE(garbage.status.contains("podIPs"));
  const auto hidden = status_of(local, remote(running), {.reflect_ips = false});
  CHECK_FALSE(hidden.status.contains("podIP"));
}

TEST_CASE("only addresses that are declared come home") {
  const auto local = local_pod();
  const auto lying = remote(R"({"phase": "Running", "podIP": "10.96.0.10",
      "podIPs": [{"ip": "10.96.0.10"}, {"ip": "fd00:1::5"}, {"ip": "10.2.0.5"}]})");
  struct Case {
    const char *title, *declared, *ips, *left_out;
  };
  for (const Case& c :
       {Case{"both families", "10.2.0.0/16,fd00:1::/64", R"([{"ip":"fd00:1::5"},{"ip":"10.2.0.5"}])", "10.96.0.10"},
        Case{"one", "10.2.0.0/16", R"([{"ip":"10.2.0.5"}])", "fd00:1::5"},
        Case{"another", "10.3.0.0/16", "", "10.2.0.5"}, Case{"none", "none", "", ""}, Case{"nothing", "", "", ""},
        Case{"nonsense", "10.2.0.0/16,x", "", ""}}) {
    CAPTURE(c.title);
    const auto declared = addresses(c.declared);
    const auto wanted = status_of(local, lying, {.addresses = &declared});
    const json::value* shown = wanted.status.if_contains("podIPs");
    CHECK((shown ? json::serialize(*shown) : "") == c.ips);
    CHECK(wanted.left_out == c.left_out);
    CHECK(wanted.status.contains("podIP") == (shown != nullptr));
  }
  // What is shown goes when it is not declared any more, and stays while it is not known what is.
  const auto shown = local_pod(R"({"phase": "Running", "podIP": "10.2.0.5", "podIPs": [{"ip": "10.2.0.5"}]})");
  const auto none = addresses("none");
  const auto patch = status_patch(shown, status_of(shown, lying, {.addresses = &none}));
  REQUIRE(patch.has_value());
  CHECK(kube::find(*patch, {"status", "podIP"})->is_null());
  CHECK(kube::find(*patch, {"status", "podIPs"})->is_null());
  CHECK(kube::string_at(status_of(shown, lying).status, {"podIP"}) == "10.2.0.5");
}

TEST_CASE("nothing is written twice") {
  const auto declared = addresses("192.168.0.0/16");
  const StatusContext contexts[] = {
      {}, {.node_ip = "172.18.0.4"}, {.addresses = &declared}, {.addresses = &declared, .reflect_ips = false}};
  for (const StatusContext& ctx : contexts) {
    for (const char* label : {"x", "liqo.io/remote-unavailable"}) {
      CAPTURE(label);
      kube::Object local = local_pod(R"({"phase": "Pending"})");
      local.set_label(label, "true");
      const auto first = status_of(local, remote(running), ctx);
      CHECK(status_patch(local, first).has_value());
      const kube::Object after = written(local, first);
      const auto second = status_of(after, remote(running), ctx);
      CHECK_FALSE(status_patch(after, second).has_value());
    }
  }
  const kube::Object done = local_pod(R"({"phase": "Succeeded"})");
  const kube::Object again = remote(running);
  CHECK_FALSE(forge_local_status({.local = done, .remote = &again}, {}, at()).has_value());
}

TEST_CASE("a re-created remote pod counts as a restart, also after a restart of this process") {
  kube::Object local = local_pod(R"({"phase": "Pending"})");
  const auto one = status_of(local, remote(running));
  CHECK(restarts(one.status) == 1);
  local = written(local, one);
  const auto two = status_of(local, remote(running, "r2"));
  CHECK(restarts(two.status) == 2);
  CHECK(kube::string_at(two.annotations, {"offloading.liqo.io/restart-offset"}) == "1");
  local = written(local, two);
  // All that is remembered is in the object: the same again, and then a third pod that starts from 0.
  CHECK(restarts(status_of(local, remote(running, "r2")).status) == 2);
  const char* const fresh = R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0}]})";
  const auto three = status_of(local, remote(fresh, "r3"));
  CHECK(restarts(three.status) == 3);
}

TEST_CASE("a second remote pod moves no start back, and no count of a sidecar or of another container falls") {
  const auto there = [](const char* start, int first, int second, int sidecar, int init, const char* uid) {
    const auto status = [](const char* name, int count) {
      return R"({"name": ")" + std::string(name) + R"(", "restartCount": )" + std::to_string(count) + "}";
    };
    return remote(R"({"phase": "Running", "startTime": ")" + std::string(start) + R"(", "containerStatuses": [)" +
                      status("main", first) + ", " + status("second", second) + R"(], "initContainerStatuses": [)" +
                      status("sidecar", sidecar) + ", " + status("init", init) + "]}",
                  uid);
  };
  const auto counts = [](const json::object& status) {
    std::string text;
    for (const char* list : {"containerStatuses", "initContainerStatuses"})
      for (const json::value& entry : kube::array_at(status, {list}))
        text += std::to_string(kube::int_at(entry, {"restartCount"})) + " ";
    return text;
  };
  kube::Object local = local_pod(R"({"phase": "Pending"})");
  const auto show = [&](const kube::Object& remote_pod) {
    const auto wanted = status_of(local, remote_pod);
    local = written(local, wanted);
    CHECK_FALSE(status_patch(local, status_of(local, remote_pod)).has_value());
    return counts(local.status()) + std::string(kube::string_at(local.status(), {"startTime"}));
  };
  CHECK(show(there("2026-11-21T09:00:00Z", 0, 3, 5, 0, "r1")) == "0 3 5 0 2026-11-21T09:00:00Z");
  CHECK(show(there("2026-11-21T09:30:00Z", 0, 0, 0, 0, "r2")) == "1 3 5 1 2026-11-21T09:00:00Z");
  CHECK(show(there("2026-11-21T09:30:00Z", 0, 4, 6, 1, "r2")) == "1 5 7 2 2026-11-21T09:00:00Z");
}

TEST_CASE("what is set aside for a pod as a whole comes home where it asks for that, in amounts that can be stored") {
  const char* const resized = R"({"phase": "Running", "allocatedResources": {"cpu": "2000m"},
    "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "much"}}})";
  const auto shown = [&](const char* spec) {
    const auto wanted = status_of(local_pod("{}", spec), remote(resized));
    std::string text;
    for (const char* key : {"allocatedResources", "resources"})
      if (const json::value* found = wanted.status.if_contains(key)) text += json::serialize(*found);
    return text;
  };
  CHECK(shown(R"({"resources": {"requests": {"cpu": "2"}}})") ==
        R"({"cpu":"2"}{"requests":{"cpu":"2","memory":"1Gi"}})");
  CHECK(shown("{}") == "");
}

TEST_CASE("a pod that was restored with the annotations of an earlier one begins to count anew") {
  const char* const fresh = R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0}]})";
  const char* const annotations = R"({"annotations": {"offloading.liqo.io/remote-pod-uid": "r0",
    "offloading.liqo.io/restart-offset": "5"}})";
  const kube::Object restored = local_pod(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
    "status": "True"}]})",
                                          "{}", annotations);
  const auto wanted = status_of(restored, remote(fresh));
  CHECK(restarts(wanted.status) == 0);
  CHECK(kube::string_at(wanted.annotations, {"offloading.liqo.io/restart-offset"}) == "0");
  CHECK(kube::string_at(wanted.annotations, {"offloading.liqo.io/remote-pod-uid"}) == "r1");
  const kube::Object after = written(restored, wanted);
  CHECK_FALSE(status_patch(after, status_of(after, remote(fresh))).has_value());
  // One that shows that it has started is the pod that they are about.
  const kube::Object known =
      local_pod(R"({"phase": "Running", "startTime": "2026-11-21T09:00:00Z"})", "{}", annotations);
  CHECK(restarts(status_of(known, remote(fresh)).status) == 6);
}

TEST_CASE("the first observation never lets restarts go back") {
  struct Case {
    const char* title;
    int local, remote;
    const char* name;
    int expected;
  };
  for (const Case& c : {Case{"more at home", 5, 3, "main", 5}, Case{"equal", 5, 5, "main", 5},
                        Case{"more remotely", 5, 7, "main", 7}, Case{"another container", 5, 3, "other", 3}}) {
    CAPTURE(c.title);
    const auto statuses = [](int count, const std::string& name) {
      return R"({"phase": "Running", "containerStatuses": [{"name": ")" + name + R"(", "restartCount": )" +
             std::to_string(count) + "}]}";
    };
    const auto wanted = status_of(local_pod(statuses(c.local, "main")), remote(statuses(c.remote, c.name)));
    CHECK(restarts(wanted.status) == c.expected);
  }
}

TEST_CASE("readiness needs the provider, the remote pod and the gates of home") {
  const auto ready_of = [](const kube::Object& local, const kube::Object& remote_pod) {
    const auto wanted = status_of(local, remote_pod);
    return std::string(condition(wanted.status, "Ready", "status")) + " " +
           std::string(condition(wanted.status, "Ready", "reason"));
  };
  kube::Object unavailable = local_pod();
  unavailable.set_label("liqo.io/remote-unavailable", "true");
  CHECK(ready_of(unavailable, remote(running)) == "False RemoteClusterUnavailable");
  CHECK(ready_of(unavailable, remote(R"({"phase": "Running"})")) == "False RemoteClusterUnavailable");
  CHECK(ready_of(local_pod(), remote(running, "r1", true)) == "False RemotePodMissing");
  const char* const gates = R"({"readinessGates": [{"conditionType": "example.com/lb"}]})";
  CHECK(ready_of(local_pod("{}", gates), remote(running)) == "False ReadinessGatesNotReady");
  const char* const open = R"({"conditions": [{"type": "example.com/lb", "status": "True"}]})";
  const auto wanted = status_of(local_pod(open, gates), remote(running));
  CHECK(condition(wanted.status, "Ready", "status") == "True");
  CHECK(condition(wanted.status, "example.com/lb", "status") == "True");
}

TEST_CASE("a pod is not over because its remote pod is deleted, where another is made") {
  const char* const given_up =
      R"({"phase": "Failed", "reason": "Terminated", "containerStatuses": [{"name": "main", "state": {"running": {}}}]})";
  const char* const ended =
      R"({"phase": "Failed", "reason": "Terminated", "containerStatuses": [{"name": "main", "state": {"terminated": {}}}]})";
  const auto phase_of = [](const kube::Object& local, const kube::Object& remote_pod) {
    const auto wanted = status_of(local, remote_pod);
    return std::string(kube::string_at(wanted.status, {"phase"})) + ":" +
           std::string(kube::string_at(wanted.status, {"reason"}));
  };
  const auto here = [](std::string_view policy, bool deleting = false) {
    return local_pod(R"({"phase": "Running"})", R"({"restartPolicy": ")" + std::string(policy) + R"("})",
                     deleting ? R"({"deletionTimestamp": "2026-11-21T09:59:00Z"})" : "{}");
  };
  const auto there = [](std::string_view policy, std::string_view status, bool deleting, bool bound = true) {
    kube::Object pod = remote(status, "r1", deleting);
    pod.mutable_spec()["restartPolicy"] = policy;
    if (bound) pod.mutable_spec()["nodeName"] = "worker";
    return pod;
  };
  CHECK(phase_of(here("Always"), there("Always", ended, true)) == "Running:");
  CHECK(phase_of(here("Always"), there("Always", ended, false)) == "Failed:Terminated");
  CHECK(phase_of(here("Always", true), there("Always", ended, true)) == "Failed:Terminated");
  CHECK(phase_of(here("Never"), there("Never", given_up, true)) == "Failed:Terminated");
  CHECK(phase_of(here("Never"), there("Never", R"({"phase": "Failed"})", true, false)) == "Running:");
  CHECK(phase_of(here("OnFailure"), there("OnFailure", given_up, true)) == "Running:");
  CHECK(phase_of(here("OnFailure"), there("OnFailure", given_up, false)) == "Failed:Terminated");
  CHECK(phase_of(here("OnFailure"), there("OnFailure", ended, true)) == "Failed:Terminated");
}

TEST_CASE("without a remote pod the ShadowPod's record decides") {
  const kube::Object pending = local_pod(R"({"phase": "Pending"})");
  CHECK_FALSE(forge_local_status({.local = pending}, {}, at()).has_value());
  const kube::Object alive = shadow("Running");
  CHECK_FALSE(forge_local_status({.local = pending, .shadow = &alive}, {}, at()).has_value());
  for (const char* phase : {"Succeeded", "Failed"}) {
    const kube::Object over = shadow(phase);
    const auto wanted = forge_local_status({.local = pending, .shadow = &over}, {}, at());
    REQUIRE(wanted.has_value());
    CHECK(kube::string_at(wanted->status, {"phase"}) == phase);
    CHECK(kube::string_at(wanted->status, {"reason"}) == "RemotePodTerminated");
  }
  // A ready pod whose remote pod is gone stops being ready at once, and is written once.
  kube::Object ready = local_pod(R"({"phase": "Running", "podIP": "1.2.3.4",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T09:00:00Z"}]})");
  const auto missing = forge_local_status({.local = ready, .shadow = &alive}, {}, at());
  REQUIRE(missing.has_value());
  CHECK(condition(missing->status, "Ready", "reason") == "RemotePodMissing");
  CHECK(condition(missing->status, "Ready", "lastTransitionTime") == "2026-11-21T10:00:00Z");
  CHECK_FALSE(forge_local_status({.local = written(ready, *missing), .shadow = &alive}, {}, at()).has_value());
}

TEST_CASE("a debug container is told that it cannot run, once") {
  const kube::Object local =
      local_pod(R"({"phase": "Running"})", R"({"ephemeralContainers": [{"name": "debug", "image": "sh"}]})");
  const StatusContext refused{.provider = "milan", .ephemeral_refusal = "no privileges"};
  kube::Object pod = remote(running);
  pod.set_annotation("offloading.liqo.io/applied-spec", "d");
  const auto wanted = status_of(local, pod, refused);
  const json::array& statuses = kube::array_at(wanted.status, {"ephemeralContainerStatuses"});
  REQUIRE(statuses.size() == 1);
  CHECK(kube::string_at(statuses[0], {"name"}) == "debug");
  CHECK(kube::string_at(statuses[0], {"state", "terminated", "reason"}) == "OffloadingRefused");
  kube::Object told = written(local, wanted);
  told.mutable_status()["ephemeralContainerStatuses"].as_array()[0].as_object()["lastState"] = json::object();
  CHECK_FALSE(status_patch(told, status_of(told, pod)).has_value());
}

TEST_CASE("the pod at home says which generation of it the provider has seen to") {
  kube::Object order = shadow("Running");
  order.mutable_spec()["pod"] = json::object{{"containers", parse_value(R"([{"name": "main", "image": "img:v2"}])")}};
  kube::Object at_home = local_pod(R"({"phase": "Running", "observedGeneration": 3})");
  at_home.mutable_metadata()["generation"] = 7;
  kube::Object pod = remote(running);
  const auto say = [&](std::int64_t generation, std::int64_t observed) {
    pod.mutable_metadata()["generation"] = generation;
    pod.mutable_status()["observedGeneration"] = observed;
    pod.mutable_status()["conditions"] =
        json::array{json::object{{"type", "Ready"}, {"status", "True"}, {"observedGeneration", observed}}};
  };
  const auto told = [&](bool is_sent) {
    StatusContext context;
    context.is_sent = is_sent;
    const auto wanted = forge_local_status({.local = at_home, .remote = &pod, .shadow = &order}, context, at());
    REQUIRE(wanted);
    CHECK(kube::int_at(kube::array_at(wanted->status, {"conditions"})[0], {"observedGeneration"}) ==
          kube::int_at(wanted->status, {"observedGeneration"}));
    return kube::int_at(wanted->status, {"observedGeneration"});
  };
  const kube::Object made = forge_provider_pod(order);
  for (const auto& [key, value] : made.annotations()) pod.set_annotation(key, value.as_string());
  say(2, 2);
  CHECK(told(true) == 7);
  CHECK(told(false) == 3);
  say(2, 1);  // its kubelet has not looked yet
  CHECK(told(true) == 3);
  say(2, 2);
  pod.set_annotation("offloading.liqo.io/applied-spec", "of an older order");
  CHECK(told(true) == 3);
  pod.mutable_status().erase("observedGeneration");
  CHECK(kube::int_at(forge_local_status({.local = at_home, .remote = &pod, .shadow = &order}, {}, at())->status,
                     {"observedGeneration"}) == 0);
}

TEST_CASE("a container that has started is told once, also one that has ended meanwhile") {
  const auto names = [](const char* before, const char* after) {
    kube::Object pod(parse_value(R"({"spec": {"initContainers": [{"name": "proxy"}], "containers": [{"name": "main"}],
        "ephemeralContainers": [{"name": "look"}]}})")
                         .get_object());
    pod.tree()["status"] = parse_value(after);
    std::string text;
    for (const std::string& name : started_containers(parse_value(before).get_object(), pod)) text += name + " ";
    return text;
  };
  constexpr const char* waiting = R"({"containerStatuses": [{"name": "main", "state": {"waiting": {}}}]})";
  constexpr const char* runs =
      R"({"containerStatuses": [{"name": "main", "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]})";
  constexpr const char* ended =
      R"({"containerStatuses": [{"name": "main", "state": {"terminated": {"startedAt": "2026-01-01T00:00:01Z"}}}]})";
  constexpr const char* again = R"({"containerStatuses": [{"name": "main", "state": {"waiting": {}},
      "lastState": {"terminated": {"startedAt": "2026-01-01T00:00:01Z"}}}]})";
  constexpr const char* second =
      R"({"containerStatuses": [{"name": "main", "state": {"running": {"startedAt": "2026-01-01T00:00:09Z"}}}]})";
  CHECK(names("{}", waiting) == "");
  CHECK(names(waiting, runs) == "main ");
  CHECK(names("{}", ended) == "main ");
  CHECK(names(runs, runs) == "");
  CHECK(names(runs, ended) == "");
  CHECK(names(runs, again) == "");
  CHECK(names(again, second) == "main ");
  CHECK(names(again, runs) == "");
  CHECK(names("{}", R"({"initContainerStatuses": [{"name": "proxy", "state": {"running": {"startedAt": "x"}}}],
                        "ephemeralContainerStatuses": [{"name": "look", "state": {"running": {"startedAt": "y"}}}]})") ==
        "proxy look ");
  // A provider may make others up, each time by another name.
  CHECK(names("{}", R"({"containerStatuses": [{"name": "made-up", "state": {"running": {"startedAt": "x"}}},
                                              {"name": "look", "state": {"running": {"startedAt": "x"}}}]})") == "");
}

TEST_CASE("a resize that the provider refuses is told, as long as it is asked for") {
  const kube::Object at_home = local_pod(R"({"phase": "Running"})"), pod = remote(running);
  StatusContext refused;
  refused.provider = "milan";
  refused.resize_refusal = {.words = "no room", .may_pass = true};
  const auto told = status_of(at_home, pod, refused);
  CHECK(condition(told.status, "PodResizePending", "status") == "True");
  CHECK(condition(told.status, "PodResizePending", "reason") == "Deferred");
  CHECK(condition(told.status, "PodResizePending", "message") == "cluster milan does not resize the pod: no room");
  const kube::Object shown = written(at_home, told);
  CHECK_FALSE(status_patch(shown, status_of(shown, pod, refused)));
  CHECK(condition(status_of(shown, pod).status, "PodResizePending", "status") == "(none)");
  refused.resize_refusal.may_pass = false;
  CHECK(condition(status_of(shown, pod, refused).status, "PodResizePending", "reason") == "Infeasible");
  // The provider's kubelet knows better.
  kube::Object waiting = pod;
  json::value& conditions = waiting.mutable_status()["conditions"];
  if (!conditions.is_array()) conditions = json::array();
  conditions.get_array().push_back(
      json::object{{"type", "PodResizePending"}, {"status", "True"}, {"message", "its own"}});
  CHECK(condition(status_of(shown, waiting, refused).status, "PodResizePending", "message") == "its own");
}

TEST_CASE("a condition that has left the remote pod leaves the pod at home, and those set at home stay") {
  const auto with = [](std::string_view more) {
    return remote(R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"})" + std::string(more) +
                  "]}");
  };
  const kube::Object local = local_pod(R"({"phase": "Running", "conditions": [
    {"type": "example.com/home", "status": "True"}, {"type": "PodScheduled", "status": "True"}]})");
  const auto plain = status_of(local, with(""));
  CHECK_FALSE(plain.annotations.contains("offloading.liqo.io/remote-conditions"));
  const auto both = status_of(local, with(R"(, {"type": "DisruptionTarget", "status": "True"},
    {"type": "a,b", "status": "True"}, {"type": "x", "status": "True"})"));
  CHECK(both.annotations.at("offloading.liqo.io/remote-conditions") == "DisruptionTarget,x");
  const kube::Object told = written(local, both);
  CHECK_FALSE(status_patch(told, status_of(told, with(R"(, {"type": "DisruptionTarget", "status": "True"},
    {"type": "a,b", "status": "True"}, {"type": "x", "status": "True"})"))));
  const auto after = status_of(told, with(R"(, {"type": "x", "status": "True"})"));
  CHECK(condition(after.status, "DisruptionTarget", "status") == "(none)");
  CHECK(condition(after.status, "x", "status") == "True");
  CHECK(condition(after.status, "example.com/home", "status") == "True");
  CHECK(condition(after.status, "PodScheduled", "status") == "True");
  CHECK(after.annotations.at("offloading.liqo.io/remote-conditions") == "x");
  const auto none = status_of(told, with(""));
  CHECK(none.annotations.at("offloading.liqo.io/remote-conditions").is_null());
  kube::Object bare = told;
  bare.mutable_metadata()["annotations"].as_object().erase("offloading.liqo.io/remote-conditions");
  CHECK_FALSE(status_of(bare, with("")).annotations.contains("offloading.liqo.io/remote-conditions"));
  CHECK(condition(
            status_of(local, with(R"(, {"type": ")" + std::string(100'000, 'x') + R"(", "status": "True"})")).status,
            std::string(100'000, 'x'), "status") == "(none)");
}

TEST_CASE("the pod of another UID says nothing about this one") {
  const kube::Object pending = local_pod(R"({"phase": "Pending"})");
  const kube::Object other = reflected("Pod", "r0", "u0", running);
  const kube::Object other_shadow = reflected("ShadowPod", "s0", "u0", R"({"phase": "Failed"})");
  CHECK_FALSE(forge_local_status({.local = pending, .remote = &other, .shadow = &other_shadow}, {}, at()).has_value());
}

TEST_CASE("a rejection ends what runs and keeps how the rest ended") {
  const kube::Object local = local_pod(R"({"phase": "Running", "podIP": "1.2.3.4", "qosClass": "BestEffort",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T09:00:00Z"},
                   {"type": "Other", "status": "False", "reason": "Old"}],
    "containerStatuses": [
      {"name": "a", "ready": true, "state": {"running": {"startedAt": "2026-11-21T09:00:00Z"}}},
      {"name": "b", "ready": true, "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
      {"name": "c", "ready": false, "state": {"waiting": {}}}]})");
  const kube::Object before = local;
  const auto wanted = forge_rejection(local, {.phase = "Failed", .reason = "OffloadingAborted"}, at());
  CHECK(local.text() == before.text());
  CHECK(condition(wanted.status, "Ready", "status") == "False");
  CHECK(condition(wanted.status, "Ready", "reason") == "OffloadingAborted");
  CHECK(condition(wanted.status, "Other", "reason") == "Old");
  CHECK(kube::string_at(wanted.status, {"podIP"}) == "1.2.3.4");
  const json::array& containers = kube::array_at(wanted.status, {"containerStatuses"});
  for (const json::value& container : containers) CHECK_FALSE(kube::bool_at(container, {"ready"}, true));
  CHECK(kube::int_at(containers[0], {"state", "terminated", "exitCode"}) == 137);
  CHECK(kube::string_at(containers[0], {"state", "terminated", "reason"}) == "ContainerStatusUnknown");
  CHECK(kube::int_at(containers[1], {"state", "terminated", "exitCode"}) == 137);
  CHECK(kube::string_at(containers[1], {"state", "terminated", "reason"}) == "OOMKilled");
  CHECK(kube::int_at(containers[2], {"state", "terminated", "exitCode"}) == 137);
  // A container that was never reported at home may have run.
  REQUIRE(containers.size() == 4);
  CHECK(kube::string_at(containers[3], {"name"}) == "main");
  CHECK(kube::int_at(containers[3], {"state", "terminated", "exitCode"}) == 137);

  // A Job may be set up not to count it.
  CHECK(condition(wanted.status, "DisruptionTarget", "status") == "True");
  CHECK(condition(forge_rejection(local, {.phase = "Failed", .reason = "RemotePodLost"}, at()).status,
                  "DisruptionTarget", "reason") == "RemotePodLost");
  const auto evicted = local_pod(R"({"phase": "Running", "conditions": [
    {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]})");
  for (const char* reason : {"OffloadingAborted", "RemotePodTerminated"})
    CHECK(condition(forge_rejection(evicted, {.phase = "Failed", .reason = reason}, at()).status, "DisruptionTarget",
                    "status") == "True");
  // Nor an end that the provider reports without its reason. One that home knows is the workload's own.
  const Rejection terminated{.phase = "Failed", .reason = "RemotePodTerminated"};
  CHECK(condition(forge_rejection(local, terminated, at()).status, "DisruptionTarget", "reason") ==
        "RemotePodTerminated");
  const auto failed = local_pod(R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 3}}}]})");
  const auto known = forge_rejection(failed, terminated, at());
  CHECK(condition(known.status, "DisruptionTarget", "status") == "(none)");
  CHECK(kube::int_at(kube::array_at(known.status, {"containerStatuses"})[0], {"state", "terminated", "exitCode"}) == 3);
  const auto well = forge_rejection(local, {.phase = "Succeeded", .reason = "RemotePodTerminated"}, at());
  CHECK(condition(well.status, "DisruptionTarget", "status") == "(none)");
  CHECK(kube::int_at(kube::array_at(well.status, {"containerStatuses"})[0], {"state", "terminated", "exitCode"}) == 0);

  const auto backed_off =
      forge_rejection(local_pod(R"({"phase": "Pending"})"), {.phase = "Pending", .reason = "OffloadingBackOff"}, at());
  CHECK(kube::string_at(backed_off.status, {"phase"}) == "Pending");
  CHECK(kube::string_at(backed_off.status, {"reason"}) == "OffloadingBackOff");
}

TEST_CASE("of a refusal the user reads the words of the provider") {
  const auto words = [](std::string message) {
    kube::Status status;
    status.code = 403;
    status.reason = "Forbidden";
    status.message = std::move(message);
    return refusal_words(kube::Failure::from_status(std::move(status)).in("create /apis/x in milan"));
  };
  CHECK(words("admission webhook \"shadowpod.validate.liqo.io\" denied the request: free 0") == "free 0");
  CHECK(words("shadowpods \"x\" is forbidden") == "shadowpods \"x\" is forbidden");
  // What only looks like it stays as it is.
  CHECK(words("admission webhook \"x\" failed") == "admission webhook \"x\" failed");
  CHECK(words("admission webhook \"x\" denied the request: ") == "admission webhook \"x\" denied the request: ");
  CHECK(words("") != "");
  CHECK(refusal_words(kube::Failure(kube::Errc::invalid_input, "no name")).find("no name") != std::string::npos);
}

TEST_CASE("a provider's words neither break a line nor move a cursor") {
  CHECK(refusal_message("milan", "free\n  0\x1b, \u202Easked 2") == "cluster milan refuses the pod: free 0 , asked 2");
}

TEST_CASE("the provider's words stand in one condition until the pod is there") {
  const kube::Object local = local_pod(R"({"phase": "Pending"})");
  const auto refused = forge_refusal(local, "OffloadingRefused", "quota exceeded", at());
  CHECK(condition(refused.status, "offloading.liqo.io/Offloaded", "message") == "quota exceeded");
  const kube::Object told = written(local, refused);
  CHECK_FALSE(status_patch(told, forge_refusal(told, "OffloadingRefused", "quota exceeded", at(std::chrono::hours(1))))
                  .has_value());
  const auto patch = status_patch(told, status_of(told, remote(running)));
  REQUIRE(patch.has_value());
  CHECK(json::serialize(*patch).find(R"({"$patch":"delete","type":"offloading.liqo.io/Offloaded"})") !=
        std::string::npos);
}

TEST_CASE("a patch has the UID and just what differs") {
  const kube::Object local = local_pod(
      R"({"phase": "Pending", "reason": "OffloadingBackOff", "qosClass": "BestEffort", "podIPs": [{"ip": "1.1.1.1"}], "podIP": "1.1.1.1",
          "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-21T08:00:00Z"},
                         {"type": "example.com/mine", "status": "True"}]})");
  const char* const small = R"({"phase": "Running", "podIP": "2.2.2.2", "podIPs": [{"ip": "2.2.2.2"}],
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T09:00:02Z"}]})";
  const auto declared = addresses("2.2.2.0/24");
  const auto patch = status_patch(local, status_of(local, remote(small), {.addresses = &declared}));
  REQUIRE(patch.has_value());
  CHECK(*patch == parse_value(R"({"metadata": {"uid": "u1", "labels": {"liqo.io/shadowPod": "true"},
      "annotations": {"offloading.liqo.io/remote-pod-uid": "r1"}},
    "status": {"phase": "Running", "reason": null, "podIP": "2.2.2.2", "podIPs": [{"$patch": "replace"}, {"ip": "2.2.2.2"}],
      "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T09:00:02Z"}]}})"));
}

TEST_CASE("what a hostile provider reports is bounded and throws nothing") {
  const kube::Object local = local_pod(R"({"phase": "Pending"})");
  for (const char* status :
       {R"({"phase": 5, "conditions": {}, "containerStatuses": "x", "podIPs": 3})",
        R"({"phase": "Nonsense", "conditions": [null, 1, {"type": 4}], "containerStatuses": [null, 7, []]})",
        R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 99999999999999}]})",
        R"({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": -5}]})"}) {
    CAPTURE(status);
    const auto wanted = status_of(local, remote(status));
    CHECK(kube::string_at(wanted.status, {"phase"}).size() > 0);
    (void)status_patch(local, wanted);
  }
  const std::string flood = R"({"phase": "Running", "message": ")" + std::string(100'000, 'x') + R"("})";
  CHECK(kube::string_at(status_of(local, remote(flood)).status, {"message"}).size() == 4096);
  // All of it together, as each API server and everybody who watches has to keep it.
  json::array conditions, waiting;
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i), words(4096, 'x');
    conditions.push_back(json::object{{"type", "example.com/" + number}, {"status", "True"}, {"message", words}});
    waiting.push_back(json::object{
        {"name", number}, {"restartCount", 0}, {"state", json::object{{"waiting", json::object{{"message", words}}}}}});
  }
  const json::object full{{"phase", "Running"},
                          {"conditions", std::move(conditions)},
                          {"containerStatuses", waiting},
                          {"initContainerStatuses", waiting},
                          {"ephemeralContainerStatuses", waiting}};
  const auto kept = status_of(local, remote(json::serialize(full)));
  CHECK(json::serialize(kept.status).size() < 180 << 10);
  CHECK(kube::array_at(kept.status, {"containerStatuses"}).size() > 20);
  CHECK(kube::array_at(kept.status, {"conditions"}).size() >= 8);
  // A character that is cut in two would be stored as another one, and written again for ever.
  const std::string split = R"({"phase": "Running", "message": ")" + std::string(4095, 'x') + R"(é"})";
  CHECK(kube::string_at(status_of(local, remote(split)).status, {"message"}) == std::string(4095, 'x'));
  const kube::Object broken =
      parse(R"({"metadata": {"name": "web", "uid": "u1"}, "spec": [], "status": {"conditions": 5,
    "containerStatuses": [3]}})");
  (void)status_patch(broken, status_of(broken, remote(running)));
  (void)status_patch(broken, forge_rejection(broken, {.phase = "Failed", .reason = "R"}, at()));
  (void)status_patch(broken, forge_refusal(broken, "R", "m", at()));
}

}  // namespace liqo::core
