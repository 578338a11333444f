// The provider's half: ShadowPod to Pod, and what becomes of it.
#include "core/offloading/shadow_plan.hpp"

#include "../objects.hpp"
#include "core/offloading/provider_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object shadow(std::string_view phase = "Unknown", std::string_view policy = "Always") {
  kube::Object made = reflected("ShadowPod", "s1", "u1", R"({"phase": ")" + std::string(phase) + R"("})");
  made.tree()["apiVersion"] = "offloading.liqo.io/v1beta1";
  made.set_label("app", "web");
  made.set_annotation("note", "hello");
  made.set_annotation("offloading.liqo.io/reflected-keys", "app;note");
  made.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  made.mutable_spec()["pod"].as_object()["restartPolicy"] = policy;
  return made;
}

kube::Object pod_of(const kube::Object& owner, std::string_view status, bool deleting = false) {
  kube::Object pod = forge_provider_pod(owner);
  pod.mutable_metadata()["uid"] = "p1";
  pod.mutable_spec()["nodeName"] = "worker";
  if (deleting) pod.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  pod.mutable_status() = parse_value(status).get_object();
  return pod;
}

std::string in_words(const shadow_action::Nothing&) { return ""; }
std::string in_words(const shadow_action::Refuse&) { return "refuse "; }
std::string in_words(const shadow_action::LeaveForeign& plan) {
  return std::string(plan.refusal.empty() ? "" : "refuse ") + (plan.release ? "confirm release " : "");
}
std::string in_words(const shadow_action::Release&) { return "release "; }
std::string in_words(const shadow_action::RemovePod& plan) {
  return std::string(plan.release ? "release " : "") + "remove ";
}
std::string in_words(const shadow_action::RecordLoss& plan) {
  return "phase=" + std::string(kube::string_at(plan.status, {"status", "phase"})) + " if gone ";
}
std::string in_words(const shadow_action::AwaitConfirmation&) { return "unconfirmed "; }
std::string in_words(const shadow_action::AwaitCreate&) { return "wait "; }
std::string in_words(const shadow_action::AwaitPod&) { return "await "; }
std::string in_words(const shadow_action::Create& plan) { return plan.confirm_first ? "confirm create " : "create "; }
std::string in_words(const shadow_action::Keep& plan) {
  std::string text;
  for (const shadow_action::Step& step : plan.steps) {
    if (std::holds_alternative<shadow_action::PatchPod>(step)) text += "patch ";
    if (const auto* record = std::get_if<shadow_action::Record>(&step))
      text += "phase=" + std::string(kube::string_at(record->status, {"status", "phase"})) +
              (record->may_wait ? "-later " : " ");
    if (std::holds_alternative<shadow_action::Release>(step)) text += "release ";
    if (std::holds_alternative<shadow_action::AwaitNode>(step)) text += "ask-node ";
  }
  return text;
}

shadow_action::Keep keeping(ShadowPlan plan) { return std::get<shadow_action::Keep>(std::move(plan)); }
kube::Object made(ShadowPlan plan) { return std::get<shadow_action::Create>(std::move(plan)).pod; }

std::string summary(const ShadowPlan& plan) {
  return std::visit([](const auto& part) { return in_words(part); }, plan);
}

}  // namespace

TEST_CASE("the pod of a ShadowPod that is held while it is deleted goes all the same") {
  kube::Object order = shadow("Running");
  const kube::Object pod = pod_of(order, R"({"phase": "Running"})");
  order.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  order.mutable_metadata()["finalizers"] = parse_value(R"(["example.com/held"])");
  CHECK(summary(plan_shadow_pod({order, &pod}, {})) == "remove ");
  const kube::Object going = pod_of(order, R"({"phase": "Running"})", true);
  CHECK(summary(plan_shadow_pod({order, &going}, {})) == "");
  CHECK(summary(plan_shadow_pod({order, nullptr}, {})) == "");
  kube::Object other = shadow("Running");
  other.mutable_metadata()["uid"] = "s2";
  const kube::Object foreign = pod_of(other, R"({"phase": "Running"})");
  CHECK(summary(plan_shadow_pod({order, &foreign}, {})) == "");
}

TEST_CASE("the pod is made as the ShadowPod says and belongs to it") {
  const kube::Object order = shadow();
  const kube::Object pod = forge_provider_pod(order);
  CHECK(pod.key() == kube::ObjectKey{"shop-r", "web"});
  CHECK(pod.api_version() == "v1");
  CHECK(pod.label("app") == "web");
  CHECK(pod.label("liqo.io/managed-by") == "shadowpod");
  CHECK(pod.label("offloading.liqo.io/origin") == "local-cluster");
  CHECK(pod.annotation("offloading.liqo.io/local-pod-uid") == "u1");
  const auto owner = pod.controller();
  REQUIRE(owner.has_value());
  CHECK(owner->uid == "s1");
  CHECK(owner->kind == "ShadowPod");
  CHECK(owner->api_version == "offloading.liqo.io/v1beta1");
  CHECK(kube::string_at(pod.spec(), {"restartPolicy"}) == "Always");
}

TEST_CASE("labels that ask for nothing are left out of the pod and named, and a running pod keeps those that it has") {
  kube::Object order = shadow();
  order.set_label("sidecar.istio.io/inject", "false");
  order.set_label("kueue.x-k8s.io/queue-name", "team-a");
  const kube::Object pod = forge_provider_pod(order);
  CHECK_FALSE(pod.has_label("sidecar.istio.io/inject"));
  CHECK_FALSE(pod.has_label("kueue.x-k8s.io/queue-name"));
  CHECK(pod.label("app") == "web");
  CHECK(pod.annotation("offloading.liqo.io/left-out") ==
        R"(["label sidecar.istio.io/inject","label kueue.x-k8s.io/queue-name"])");
  CHECK_FALSE(plan_provider_pod_update(order, pod).has_value());
  // A pod of an earlier version has them.
  kube::Object earlier = pod;
  earlier.set_label("kueue.x-k8s.io/queue-name", "team-a");
  CHECK_FALSE(plan_provider_pod_update(order, earlier).has_value());
  const kube::Object allowed = forge_provider_pod(order, nullptr, {.labels = {"kueue.x-k8s.io/*"}});
  CHECK(allowed.label("kueue.x-k8s.io/queue-name") == "team-a");
  CHECK_FALSE(allowed.has_label("sidecar.istio.io/inject"));
}

TEST_CASE("the pod is made without label keys that a consumer's home has merged into selectors") {
  kube::Object order = shadow();
  json::object& spec = order.mutable_spec()["pod"].as_object();
  spec["topologySpreadConstraints"] = parse_value(R"([{"maxSkew": 1, "matchLabelKeys": ["pod-template-hash", "more"],
    "labelSelector": {"matchExpressions": [{"key": "pod-template-hash", "operator": "In", "values": ["1"]}]}}])");
  spec["affinity"] = parse_value(R"({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "matchLabelKeys": ["app"],
     "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}}]}})");
  const kube::Object pod = forge_provider_pod(order);
  const json::array& constraints = kube::array_at(pod.spec(), {"topologySpreadConstraints"});
  CHECK(json::serialize(constraints.at(0).at("matchLabelKeys")) == R"(["more"])");
  CHECK_FALSE(kube::array_at(pod.spec(), {"affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"})
                  .at(0)
                  .as_object()
                  .contains("matchLabelKeys"));
  // What is nonsense is for the API server to refuse.
  for (const char* text :
       {R"({"affinity": [], "topologySpreadConstraints": {}})", R"({"affinity": {"podAffinity": 1}})",
        R"({"topologySpreadConstraints": [1, {"matchLabelKeys": 1, "labelSelector": []}]})"}) {
    const json::value nonsense = parse_value(text);
    for (const auto& [key, value] : nonsense.get_object()) order.mutable_spec()["pod"].as_object()[key] = value;
    for (const auto& [key, value] : nonsense.get_object())
      CHECK(kube::object_at(forge_provider_pod(order).tree(), {"spec"}).at(key) == value);
  }
}

TEST_CASE("a lost pod is made again until it has finished") {
  // Without its finalizer nobody knows how a pod ended: OnFailure counts as Never then.
  struct Case {
    const char *title, *phase, *policy;
    ShadowMemory memory;
    const char* expected;
  };
  for (const Case& c :
       {Case{"new", "Unknown", "Always", {}, "create "}, Case{"lost", "Running", "Always", {}, "confirm create "},
        Case{"succeeded", "Succeeded", "Always", {}, ""}, Case{"failed", "Failed", "Never", {}, ""},
        Case{"Never, not started", "Pending", "Never", {}, "confirm create "},
        Case{"OnFailure, let go to be made again", "Pending", "OnFailure", {.pod_seen = true}, "confirm create "},
        Case{"Never, recorded as running", "Running", "Never", {}, "phase=Failed if gone "},
        Case{"OnFailure, recorded as running", "Running", "OnFailure", {}, "phase=Failed if gone "},
        Case{"Never, seen to run", "Unknown", "Never", {.pod_started = true}, "phase=Failed if gone "},
        Case{"Always, seen to run", "Unknown", "Always", {.pod_started = true}, "confirm create "},
        Case{"seen", "Unknown", "Never", {.pod_seen = true}, "confirm create "},
        Case{"created, not seen yet", "Unknown", "Always", {.pod_created = true}, "await "},
        Case{"an earlier create may still come", "Unknown", "Always", {.create_in_doubt = true}, "wait "},
        Case{"tried before", "Unknown", "Always", {.create_tried = true}, "confirm create "},
        Case{"older than what is known", "Unknown", "Always", {.inherited = true}, "confirm create "},
        Case{"in doubt, recorded as running", "Running", "Never", {.create_in_doubt = true}, "phase=Failed if gone "},
        Case{"finished, created", "Failed", "Always", {.pod_created = true}, ""}}) {
    CAPTURE(c.title);
    CHECK(summary(plan_shadow_pod({shadow(c.phase, c.policy), nullptr}, c.memory)) == c.expected);
  }
}

TEST_CASE("an order that comes late is not carried out before the consumer confirms it") {
  struct Late {
    const char *title, *ordered_at, *phase;
    const char* expected;
  };
  for (const Late& c : {Late{"at once", "2026-11-21T10:00:00Z", "Unknown", "create "},
                        {"in time", "2026-11-21T09:59:55Z", "Unknown", "create "},
                        {"of a clock that is a little ahead", "2026-11-21T10:00:05Z", "Unknown", "create "},
                        {"late", "2026-11-21T09:59:54Z", "Unknown", "unconfirmed "},
                        {"hours late", "2026-11-21T05:00:00Z", "Unknown", "unconfirmed "},
                        {"of the future", "2026-11-21T10:00:06Z", "Unknown", "unconfirmed "},
                        {"of no time", "soon", "Unknown", "unconfirmed "},
                        {"late, after it ran", "2026-11-21T05:00:00Z", "Running", "phase=Failed if gone "}}) {
    CAPTURE(c.title);
    kube::Object order = shadow(c.phase, "Never");
    order.mutable_metadata()["creationTimestamp"] = "2026-11-21T10:00:00Z";
    order.set_annotation("offloading.liqo.io/ordered-at", c.ordered_at);
    CHECK(summary(plan_shadow_pod({order, nullptr}, {})) == c.expected);
    CHECK(!forge_provider_pod(order).has_annotation("offloading.liqo.io/ordered-at"));
  }
}

TEST_CASE("the phase is recorded when it says something new") {
  struct Case {
    const char *title, *phase, *policy, *status;
    bool deleting;
    const char* expected;
  };
  for (
      const Case& c : {
          Case{"a short wait", "Unknown", "Always", R"({"phase": "Pending"})", false, ""},
          Case{"cannot be placed", "Unknown", "Always",
               R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]})", false,
               "phase=Pending "},
          Case{"no image", "Unknown", "Always",
               R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]})",
               false, "phase=Pending "},
          Case{
              "starting", "Unknown", "Always",
              R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]})",
              false, ""},
          Case{"running", "Unknown", "Always", R"({"phase": "Running"})", false, "phase=Running-later "},
          Case{"running, was stuck", "Pending", "Always", R"({"phase": "Running"})", false, "phase=Running-later "},
          Case{"running, not to run twice", "Unknown", "Never", R"({"phase": "Running"})", false, "phase=Running "},
          Case{"running, to run again only where it fails", "Unknown", "OnFailure", R"({"phase": "Running"})", false,
               "phase=Running "},
          Case{"running, known", "Running", "Always", R"({"phase": "Running"})", false, ""},
          Case{"made again and stuck", "Running", "Always",
               R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]})", false, ""},
          Case{"succeeded", "Running", "Never", R"({"phase": "Succeeded"})", false, "phase=Succeeded release "},
          Case{"evicted", "Running", "Always", R"({"phase": "Failed", "reason": "Evicted"})", false, "phase=Failed "},
          Case{"deleted, restarts always", "Running", "Always", R"({"phase": "Failed"})", true, ""},
          Case{"deleted, restarts never", "Running", "Never", R"({"phase": "Succeeded"})", true,
               "phase=Succeeded release "},
          Case{"finished, another word", "Succeeded", "Never", R"({"phase": "Failed"})", false, "release "},
          Case{"node lost", "Running", "Always", R"({"phase": "Unknown"})", false, ""},
          Case{"no phase", "Running", "Always", "{}", false, ""},
      }) {
    CAPTURE(c.title);
    const kube::Object order = shadow(c.phase, c.policy);
    const kube::Object pod = pod_of(order, c.status, c.deleting);
    const auto plan = plan_shadow_pod({order, &pod}, {});
    CHECK(summary(plan) == c.expected);
    if (const auto* keep = std::get_if<shadow_action::Keep>(&plan))
      if (const auto* record = find_step<shadow_action::Record>(*keep))
        CHECK(kube::string_at(record->status, {"metadata", "uid"}) == "s1");
  }
}

TEST_CASE(
    "the record that may wait does not undo a later one, and does not wait where it keeps containers from running") {
  kube::Object order = shadow();
  order.mutable_metadata()["resourceVersion"] = "7";
  kube::Object pod = pod_of(order, R"({"phase": "Running"})");
  const auto plan = keeping(plan_shadow_pod({order, &pod}, {}));
  const auto* record = find_step<shadow_action::Record>(plan);
  REQUIRE(record);
  CHECK(record->may_wait);
  CHECK(record->status ==
        parse_value(R"({"metadata": {"uid": "s1", "resourceVersion": "7"}, "status": {"phase": "Running"}})"));
  order.mutable_spec()["pod"].as_object()["ephemeralContainers"] = parse_value(R"([{"name": "debug", "image": "i"}])");
  const auto debugged = keeping(plan_shadow_pod({order, &pod}, {}));
  REQUIRE(find_step<shadow_action::Record>(debugged));
  CHECK_FALSE(find_step<shadow_action::Record>(debugged)->may_wait);
}

TEST_CASE("a pod that must not run twice is held until it is on record how it ended") {
  const char* const starting = R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {}}}]})";
  const char* const running = R"({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]})";
  const char* const restarted = R"({"phase": "Running", "containerStatuses": [{"state": {"running": {}},
    "lastState": {"terminated": {"exitCode": 1}}, "restartCount": 1}]})";
  const char* const initialised = R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {}}}],
    "containerStatuses": [{"state": {"waiting": {}}}]})";
  const char* const ended = R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 1}}}]})";
  const char* const given_up = R"({"phase": "Failed", "containerStatuses": [{"state": {"running": {}}}]})";
  enum Going { no, gracefully, by_force, unbound };
  struct Case {
    const char *title, *phase, *policy, *status;
    Going going;
    const char* expected;
    bool node_silent = false;
  };
  for (const Case& c : {
           Case{"runs", "Running", "Never", running, no, ""},
           Case{"ended", "Running", "Never", ended, no, "phase=Failed release "},
           Case{"ended, on record", "Failed", "Never", ended, no, "release "},
           Case{"is being stopped", "Running", "Never", running, gracefully, ""},
           Case{"stopped", "Running", "Never", ended, gracefully, "phase=Failed release "},
           Case{"stopped, nothing on record", "Unknown", "Never", ended, gracefully, "phase=Failed release "},
           Case{"stopped before it started", "Unknown", "Never", given_up, gracefully, "phase=Failed release "},
           Case{"forced while it runs", "Unknown", "Never", running, by_force, "phase=Failed release "},
           Case{"forced before it runs", "Unknown", "Never", starting, by_force, "ask-node "},
           Case{"forced, its node dead", "Unknown", "Never", starting, by_force, "phase=Failed release ", true},
           Case{"never had a node", "Unknown", "Never", starting, unbound, "release "},
           Case{"never had a node, collected", "Pending", "Never", R"({"phase": "Failed"})", unbound, "release "},
           Case{"on failure, ended", "Running", "OnFailure", ended, no, "phase=Failed release "},
           Case{"on failure, given up", "Running", "OnFailure", given_up, no, "phase=Failed release "},
           Case{"on failure, stopped", "Running", "OnFailure", ended, gracefully, "phase=Failed release "},
           Case{"on failure, is being stopped", "Running", "OnFailure", running, gracefully, ""},
           Case{"on failure, its node gone", "Running", "OnFailure", given_up, by_force, "phase=Pending release "},
           Case{"on failure, its node gone, no record", "Unknown", "OnFailure", given_up, by_force, "release "},
           Case{"on failure, forced", "Running", "OnFailure", running, by_force, "ask-node "},
           Case{"on failure, forced and ended", "Running", "OnFailure", restarted, by_force, "phase=Failed release "},
           Case{"on failure, forced, its node dead", "Running", "OnFailure", running, by_force,
                "phase=Pending release ", true},
           Case{"on failure, initialised, forced", "Unknown", "OnFailure", initialised, by_force,
                "phase=Failed release "},
           Case{"on failure, to be made again, its record taken back", "Pending", "OnFailure", given_up, by_force,
                "release "},
       }) {
    CAPTURE(c.title);
    const kube::Object order = shadow(c.phase, c.policy);
    kube::Object pod = pod_of(order, c.status, c.going != no);
    REQUIRE(is_tracked(pod));
    pod.mutable_metadata()["deletionGracePeriodSeconds"] = c.going == gracefully ? 30 : 0;
    if (c.going == unbound) pod.mutable_spec().erase("nodeName");
    CHECK(summary(plan_shadow_pod({order, &pod}, {.node_silent = c.node_silent})) == c.expected);
    // Without the finalizer, of an older version or let go before, nothing is asked for and nothing taken back.
    pod.mutable_metadata().erase("finalizers");
    const std::string untracked = summary(plan_shadow_pod({order, &pod}, {.node_silent = c.node_silent}));
    CHECK_FALSE(untracked.contains("release"));
    CHECK_FALSE(untracked.contains("ask-node"));
  }
}

TEST_CASE("a pod is let go where its end cannot be recorded any more") {
  kube::Object order = shadow("Running", "Never");
  const kube::Object pod = pod_of(order, R"({"phase": "Running"})");
  kube::Object successor = order;
  successor.mutable_metadata()["uid"] = "s2";
  CHECK(summary(plan_shadow_pod({successor, &pod}, {})) == "confirm release ");
  kube::Object orphan = pod;
  orphan.mutable_metadata().erase("ownerReferences");
  CHECK(summary(plan_shadow_pod({order, &orphan}, {})) == "refuse confirm release ");
  order.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  CHECK(summary(plan_shadow_pod({order, &pod}, {})) == "release remove ");
  CHECK(summary(plan_shadow_pod({successor, &pod}, {})) == "confirm release ");
}

TEST_CASE("only pods that do not restart always are held, and only our hold is taken off") {
  CHECK_FALSE(forge_provider_pod(shadow()).has_finalizer("shadowpod.offloading.liqo.io/tracking"));
  CHECK_FALSE(kube::find(forge_provider_pod(shadow()).tree(), {"metadata", "finalizers"}));
  const kube::Object order = shadow("Unknown", "OnFailure");
  kube::Object pod = pod_of(order, "{}");
  CHECK(pod.has_finalizer("shadowpod.offloading.liqo.io/tracking"));
  CHECK_FALSE(plan_provider_pod_update(order, pod).has_value());
  pod.mutable_metadata()["resourceVersion"] = "7";
  CHECK(release_patch(pod) == parse_value(R"({"metadata": {"uid": "p1", "resourceVersion": "7",
    "$deleteFromPrimitiveList/finalizers": ["shadowpod.offloading.liqo.io/tracking"]}})"));
}

TEST_CASE("a record that a pod may run again does not undo a later one") {
  kube::Object order = shadow("Running", "OnFailure");
  order.mutable_metadata()["resourceVersion"] = "7";
  kube::Object pod = pod_of(order, R"({"phase": "Failed"})", true);
  const auto plan = keeping(plan_shadow_pod({order, &pod}, {}));
  REQUIRE(find_step<shadow_action::Record>(plan));
  CHECK(find_step<shadow_action::Record>(plan)->status ==
        parse_value(R"({"metadata": {"uid": "s1", "resourceVersion": "7"}, "status": {"phase": "Pending"}})"));
}

TEST_CASE("what was seen of a pod counts unless it is made again") {
  struct Case {
    const char *title, *policy, *status;
    bool deleting, forced, bound, expected;
  };
  const char* const running = R"({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]})";
  for (const Case& c : {Case{"not started", "Never", "{}", false, false, true, false},
                        {"started", "Never", running, false, false, true, true},
                        {"started, going", "Never", running, true, true, true, true},
                        {"collected without a node", "Never", R"({"phase": "Failed"})", true, true, false, false},
                        {"on failure", "OnFailure", running, false, false, true, true},
                        {"on failure, being stopped", "OnFailure", running, true, false, true, true},
                        {"on failure, forced", "OnFailure", running, true, true, true, false}}) {
    CAPTURE(c.title);
    const kube::Object order = shadow("Unknown", c.policy);
    kube::Object pod = pod_of(order, c.status, c.deleting);
    pod.mutable_metadata()["deletionGracePeriodSeconds"] = c.forced ? 0 : 30;
    if (!c.bound) pod.mutable_spec().erase("nodeName");
    ShadowMemory memory{.pod_created = true};
    see_pod(memory, order, pod);
    CHECK(memory.pod_started == c.expected);
    CHECK_FALSE(memory.pod_created);
    CHECK(memory.pod_seen);
    kube::Object successor = order;
    successor.mutable_metadata()["uid"] = "s2";
    ShadowMemory unaware;
    see_pod(unaware, successor, pod);
    CHECK_FALSE((unaware.pod_started || unaware.pod_seen));
  }
}

TEST_CASE("pods of others are not touched") {
  const kube::Object order = shadow();
  kube::Object pod = pod_of(order, R"({"phase": "Running"})");
  pod.mutable_metadata().erase("ownerReferences");
  CHECK(summary(plan_shadow_pod({order, &pod}, {})) == "refuse ");
  pod.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  CHECK(summary(plan_shadow_pod({order, &pod}, {})) == "");
  kube::Object predecessor = shadow();
  predecessor.mutable_metadata()["uid"] = "s0";
  const kube::Object rest = pod_of(predecessor, R"({"phase": "Running"})");
  CHECK(summary(plan_shadow_pod({order, &rest}, {})) == "");
}

TEST_CASE("a ShadowPod that cannot be carried out says why") {
  kube::Object no_origin = shadow();
  no_origin.mutable_metadata().erase("labels");
  CHECK(summary(plan_shadow_pod({no_origin, nullptr}, {})) == "refuse ");
  kube::Object empty = shadow();
  empty.mutable_spec().erase("pod");
  CHECK(summary(plan_shadow_pod({empty, nullptr}, {})) == "refuse ");
  kube::Object going = shadow();
  going.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  CHECK(summary(plan_shadow_pod({going, nullptr}, {})) == "");
}

TEST_CASE("changes of the ShadowPod reach its pod, and what others put there stays") {
  const kube::Object order = shadow("Running");
  kube::Object pod = pod_of(order, R"({"phase": "Running"})");
  CHECK_FALSE(plan_provider_pod_update(order, pod).has_value());
  pod.set_label("mesh", "on");
  pod.set_annotation("cni/ip", "10.0.0.7");
  // The provider's admission rewrote the image and added a toleration.
  pod.mutable_spec() = parse_value(R"({"containers": [{"name": "main", "image": "mirror/img:v1"}],
    "tolerations": [{"key": "added", "operator": "Exists"}]})")
                           .get_object();
  CHECK_FALSE(plan_provider_pod_update(order, pod).has_value());

  kube::Object changed = order;
  changed.set_label("tier", "front");
  changed.mutable_metadata()["labels"].as_object().erase("app");
  changed.set_annotation("offloading.liqo.io/reflected-keys", "tier;note");
  auto patch = plan_provider_pod_update(changed, pod);
  REQUIRE(patch.has_value());
  CHECK(*patch == parse_value(R"({"metadata": {"uid": "p1", "labels": {"tier": "front", "app": null},
    "annotations": {"offloading.liqo.io/reflected-keys": "tier;note"}}})"));

  kube::Object newer = order;
  newer.mutable_spec()["pod"] =
      parse_value(R"({"containers": [{"name": "main", "image": "img:v2"}], "activeDeadlineSeconds": 60,
    "tolerations": [{"key": "wanted", "operator": "Exists"}, {"key": "added", "operator": "Exists"}]})");
  const PodPolicy policy{.tolerations = {"wanted"}};
  patch = plan_provider_pod_update(newer, pod, policy);
  REQUIRE(patch.has_value());
  CHECK(kube::object_at(*patch, {"spec"}) == parse_value(R"({"containers": [{"name": "main", "image": "img:v2"}],
    "activeDeadlineSeconds": 60,
    "tolerations": [{"key": "added", "operator": "Exists"}, {"key": "wanted", "operator": "Exists"}]})")
                                                 .get_object());
  // Applied once, it is not applied again.
  pod.set_annotation("offloading.liqo.io/applied-spec",
                     kube::string_at(*patch, {"metadata", "annotations", "offloading.liqo.io/applied-spec"}));
  CHECK_FALSE(plan_provider_pod_update(newer, pod, policy).has_value());
}

TEST_CASE("the pod has the priority class that the policy makes of the consumer's, and nothing else of its priority") {
  struct Case {
    const char *title, *of_consumer, *spec, *policy, *expected, *left_out;
  };
  for (const Case& c : {
           Case{"none at home", "", "{}", R"({"priorityClasses": {"*": "tenants"}})", "", ""},
           Case{"no map", "high", "{}", "", "", R"(["priority class high"])"},
           Case{"a list is no map", "high", "{}", R"({"priorityClasses": ["*"]})", "", R"(["priority class high"])"},
           Case{"mapped", "high", "{}", R"({"priorityClasses": {"high": "tenants"}})", "tenants", ""},
           Case{"not named", "high", "{}", R"({"priorityClasses": {"low": "tenants"}})", "",
                R"(["priority class high"])"},
           Case{"every other one", "high", "{}", R"({"priorityClasses": {"low": "l", "*": "tenants"}})", "tenants", ""},
           Case{"its own numbers", "high", R"({"priority": 2000000000, "preemptionPolicy": "Never"})",
                R"({"priorityClasses": {"high": "tenants"}})", "tenants", ""},
           Case{"named by the ShadowPod, as a list lets it", "high", R"({"priorityClassName": "own"})",
                R"({"priorityClasses": ["own"]})", "own", ""},
       }) {
    CAPTURE(c.title);
    kube::Object order = shadow();
    if (*c.of_consumer) order.set_annotation("offloading.liqo.io/priority-class-name", c.of_consumer);
    for (const auto& [key, value] : parse_value(c.spec).get_object())
      order.mutable_spec()["pod"].as_object()[key] = value;
    const kube::Object pod = made(plan_shadow_pod({order, nullptr}, {}, nullptr, *read_pod_policy(c.policy)));
    CHECK(kube::string_at(pod.spec(), {"priorityClassName"}) == c.expected);
    CHECK(pod.annotation("offloading.liqo.io/left-out") == c.left_out);
    CHECK_FALSE(pod.has_annotation("offloading.liqo.io/priority-class-name"));
    for (const char* const number : {"priority", "preemptionPolicy"}) CHECK_FALSE(pod.spec().contains(number));
    CHECK_FALSE(plan_provider_pod_update(order, pod, *read_pod_policy(c.policy)).has_value());
  }
}

TEST_CASE("what the policy does not let onto pods is left out, and named with the pod") {
  kube::Object order = shadow();
  order.set_annotation("sidecar.istio.io/inject", "true");
  order.set_annotation("offloading.liqo.io/left-out", "[\"a lie\"]");
  json::object& spec = order.mutable_spec()["pod"].as_object();
  spec["tolerations"] = parse_value(R"([{"key": "pool", "operator": "Exists"},
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}])");
  spec["volumes"] = parse_value(R"([{"name": "i", "image": {"reference": "r"}}, {"name": "e", "emptyDir": {}}])");
  const kube::Object pod = made(plan_shadow_pod({order, nullptr}, {}));
  CHECK(pod.annotation("note") == "hello");
  CHECK_FALSE(pod.has_annotation("sidecar.istio.io/inject"));
  CHECK(pod.annotation("offloading.liqo.io/left-out") ==
        R"(["annotation sidecar.istio.io/inject","toleration of pool"])");
  CHECK(kube::array_at(pod.spec(), {"tolerations"}).size() == 1);
  CHECK_FALSE(kube::array_at(pod.spec(), {"containers"})[0].as_object().contains("imagePullPolicy"));
  // Made, it is as it is wanted.
  CHECK_FALSE(plan_provider_pod_update(order, pod).has_value());

  const PodPolicy policy{.always_pull_images = true, .annotations = {"sidecar.istio.io/*"}, .tolerations = {"pool"}};
  const kube::Object allowed = made(plan_shadow_pod({order, nullptr}, {}, nullptr, policy));
  CHECK(allowed.annotation("sidecar.istio.io/inject") == "true");
  CHECK_FALSE(allowed.has_annotation("offloading.liqo.io/left-out"));
  CHECK(kube::array_at(allowed.spec(), {"tolerations"}).size() == 2);
  CHECK(kube::string_at(kube::array_at(allowed.spec(), {"containers"})[0], {"imagePullPolicy"}) == "Always");
  CHECK(kube::string_at(kube::array_at(allowed.spec(), {"volumes"})[0], {"image", "pullPolicy"}) == "Always");
  // A policy that is narrower since takes nothing from a pod that runs, and an update brings nothing that it forbids.
  CHECK_FALSE(plan_provider_pod_update(order, allowed).has_value());
  spec["tolerations"].as_array().push_back(parse_value(R"({"key": "other", "operator": "Exists"})"));
  order.set_annotation("k8s.v1.cni.cncf.io/networks", "host-lan");
  const auto patch = plan_provider_pod_update(order, pod);
  REQUIRE(patch);
  CHECK(kube::array_at(*patch, {"spec", "tolerations"}).size() == 1);
  CHECK(kube::object_at(*patch, {"metadata", "annotations"}).size() == 1);
}

TEST_CASE("where requests are counted every container says what it requests, and stays as it is otherwise") {
  const auto named = [](std::string_view spec, std::string_view limit_range = "{}") {
    json::object pod = parse_value(spec).get_object();
    const Needs defaults = limit_range_defaults(parse_value(limit_range).get_object()).value();
    name_requests(pod, std::vector<Needs>{defaults});
    return json::serialize(pod);
  };
  CHECK(named(R"({"containers":[{"name":"a"}],"initContainers":[{"name":"b","resources":{}}]})") ==
        R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"0","memory":"0"}}}],)"
        R"("initContainers":[{"name":"b","resources":{"requests":{"cpu":"0","memory":"0"}}}]})");
  CHECK(named(R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}}}]})") ==
        R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}}}]})");
  CHECK(
      named(R"({"containers":[{"name":"a"}]})", R"({"limits":[{"type":"Container","defaultRequest":{"cpu":"1"}}]})") ==
      R"({"containers":[{"name":"a","resources":{"requests":{"memory":"0"}}}]})");
  CHECK(named(R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"1"}}})") ==
        R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"1"}}})");
  CHECK(named(R"({"containers":7,"initContainers":[7]})") == R"({"containers":7,"initContainers":[7]})");
}

TEST_CASE("the home API server's alias gets the address by which it is reached from here") {
  IpMapping ips;
  REQUIRE(ips.add(std::vector<std::string>{"10.70.0.0/16"}, std::vector<std::string>{"10.71.0.0/16"}).has_value());
  kube::Object order = shadow();
  order.mutable_spec()["pod"].as_object()["hostAliases"] = parse_value(R"([
    {"ip": "10.70.0.3", "hostnames": ["kubernetes.default", "kubernetes.default.svc"]},
    {"ip": "10.70.0.4", "hostnames": ["db"]}, {"ip": "x", "hostnames": ["kubernetes.default"]}, 7])");
  CHECK(home_api_server_addresses(order).size() == 2);
  CHECK(home_api_server_addresses(shadow()).empty());
  const kube::Object pod = forge_provider_pod(order, &ips);
  const json::array& aliases = kube::array_at(pod.spec(), {"hostAliases"});
  CHECK(kube::string_at(aliases[0], {"ip"}) == "10.71.0.3");
  CHECK(kube::string_at(aliases[1], {"ip"}) == "10.70.0.4");
  CHECK(kube::string_at(aliases[2], {"ip"}) == "x");
}

}  // namespace liqo::core
