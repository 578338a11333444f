// When a provider takes nothing new: how that is known, what the Node says, and what becomes of pods that ran there.
#include "core/offloading/capacity.hpp"

#include "../objects.hpp"
#include "core/admission/shadow_pod.hpp"
#include "core/common/resources.hpp"
#include "core/nodes/node.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/slices/denial.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Failure refusal(int code, std::string message) {
  kube::Status status;
  status.code = code;
  status.message = std::move(message);
  return kube::Failure::from_status(std::move(status));
}

kube::Object slice(std::string_view status, std::string_view reason) {
  kube::Object object = parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan"}})");
  object.mutable_status()["conditions"] =
      json::array{json::object{{"type", "Resources"}, {"status", status}, {"reason", reason}}};
  return object;
}

std::string taints(const kube::Object& node) { return json::serialize(*kube::find(node.spec(), {"taints"})); }

}  // namespace

TEST_CASE("what is refused for lack of room is told from what is wrong with a pod, by our words and the Go version's") {
  const std::string hook = "admission webhook \"shadowpod.validate.liqo.io\" denied the request: ";
  for (const std::string& words :
       {hook + "quota liqo-tenant-rome/milan-1 has not enough cpu: asked 1, used 2 of 2, free 0",
        hook + "quota liqo-tenant-rome/milan-1 is cordoned: the provider takes no new pods; those that run go on",
        hook + "quota liqo-tenant-rome/milan-1 is drained: the provider takes no new pods, and those that run end",
        hook + admission::refuse_stored({.objects = 20'000, .bytes = 0}, PodPolicy{}),
        hook + admission::refuse_stored({.objects = 0, .bytes = 1'000'000'000}, PodPolicy{}),
        hook + admission::refuse_stored({.objects = 20'000, .bytes = 0}, PodPolicy{}, false),
        hook + "quota liqo-tenant-rome/milan-1 has been withdrawn",
        hook + "there is no quota for user \"milan-1\" of cluster rome", hook + "user is cordoned",
        hook + "failed getting quota", hook + "peering cpu quota usage exceeded - free 2 / requested 2500m"})
    CHECK_MESSAGE(is_for_lack_of_room(refusal(403, words)), words);
  for (const std::string& words :
       {std::string(
            "shadowpods.offloading.liqo.io is forbidden: User \"milan-1\" cannot create resource \"shadowpods\" "
            "in API group \"offloading.liqo.io\" in the namespace \"shop-rome\""),
        std::string("shadowpods \"web\" is forbidden: unable to create new content in namespace shop-rome because it "
                    "is being terminated")})
    CHECK_MESSAGE((is_for_lack_of_rights(refusal(403, words)) && !is_for_lack_of_room(refusal(403, words))), words);
  CHECK(is_for_lack_of_rights(refusal(404, "namespaces \"shop-rome\" not found")));
  for (const std::string& words :
       {hook + "spec.pod.hostNetwork is not allowed for pods of consumers",
        hook + "quota liqo-tenant-rome/milan-1 grants no nvidia.com/gpu: the pod asks for 1, and the resource is not "
               "part of the slice"})
    CHECK_FALSE_MESSAGE((is_for_lack_of_room(refusal(403, words)) || is_for_lack_of_rights(refusal(403, words))),
                        words);
  CHECK_FALSE(is_for_lack_of_room(refusal(500, "quota x has not enough cpu")));
}

TEST_CASE("a node is closed while its slice is denied or cordoned, or has no room for a pod that it could hold") {
  const auto denied = slice("Denied", "ResourceSliceResourcesDenied");
  const auto cordoned = slice("Accepted", "ResourceSliceCordoned");
  const auto open = slice("Accepted", "ResourceSliceResourcesAccepted");
  const kube::Object unanswered = parse(R"({"metadata": {"name": "milan"}})");
  CHECK(why_closed(&denied, false) == Closed::denied);
  CHECK(why_closed(&cordoned, true) == Closed::cordoned);
  CHECK(why_closed(&open, true) == Closed::full);
  CHECK(why_closed(&open, true, true) == Closed::silent);
  CHECK(why_closed(nullptr, false, true) == Closed::silent);
  CHECK(why_closed(&denied, false, true) == Closed::denied);
  CHECK(why_closed(&cordoned, false, true) == Closed::cordoned);
  CHECK(closed_word(Closed::silent) == "silent");
  CHECK(why_closed(&open, false) == Closed::no);
  CHECK(why_closed(&unanswered, false) == Closed::no);
  CHECK(why_closed(nullptr, false) == Closed::no);
  CHECK(why_closed(nullptr, true) == Closed::full);
  CHECK(closed_word(Closed::no) == "");
  CHECK(closed_word(Closed::cordoned) == "cordoned");
}

TEST_CASE("a node is closed while its slice is granted no cpu or no memory, and not where no amount is named") {
  const auto granted = [](std::string_view status, std::string_view reason, std::string_view resources) {
    kube::Object made = slice(status, reason);
    made.mutable_spec()["class"] = "share";
    made.mutable_status()["resources"] = parse_value(resources);
    return made;
  };
  for (const auto& [resources, expected] :
       {std::pair{R"({"cpu": "0", "memory": "0", "pods": "0"})", Closed::nothing_granted},
        {R"({"cpu": "0m", "memory": "8Gi"})", Closed::nothing_granted},
        {R"({"cpu": "4", "memory": 0})", Closed::nothing_granted},
        {R"({"cpu": "4", "memory": "8Gi", "pods": "0"})", Closed::no},
        {R"({"cpu": "4"})", Closed::no},
        {R"({"cpu": "much", "memory": "8Gi"})", Closed::no},
        {R"({})", Closed::no}}) {
    CAPTURE(resources);
    const auto open = granted("Accepted", "ResourceSliceResourcesAccepted", resources);
    CHECK(why_closed(&open, false) == expected);
    CHECK(why_closed(&open, true) == (expected == Closed::no ? Closed::full : expected));
  }
  const std::string_view zero = R"({"cpu": "0", "memory": "0"})";
  const auto cordoned = granted("Accepted", "ResourceSliceCordoned", zero);
  CHECK(why_closed(&cordoned, false) == Closed::cordoned);
  const auto drained = granted("Denied", "ResourceSliceResourcesDenied", zero);
  CHECK(why_closed(&drained, false) == Closed::denied);
  const auto edited = granted("Denied", "RequestDenied", zero);
  CHECK(why_closed(&edited, false) == Closed::nothing_granted);
  CHECK(closed_word(Closed::nothing_granted) == "nothing-granted");
}

TEST_CASE("a denied request leaves the node open where something was granted before, and a drain closes it") {
  struct Row {
    std::string_view reason;
    Closed built_in, custom;  ///< by class, if something is granted
  };
  for (const Row& row : {Row{"InvalidRequest", Closed::no, Closed::no},
                         {"RequestDenied", Closed::no, Closed::no},
                         {"DefaultResourceSliceClassDisabled", Closed::no, Closed::no},
                         {"ShareResourceSliceClassDisabled", Closed::no, Closed::no},
                         // As the Go version drains a tenant, and as older ones of this version deny anything.
                         {"ResourceSliceResourcesDenied", Closed::denied, Closed::denied},
                         {"TenantDrained", Closed::denied, Closed::denied},
                         {"TenantCordoned", Closed::denied, Closed::denied},
                         {"TooExpensive", Closed::denied, Closed::no},
                         {"", Closed::denied, Closed::no}})
    for (const std::string_view slice_class : {"", "default", "share", "gold"}) {
      CAPTURE(row.reason);
      CAPTURE(slice_class);
      kube::Object edited = slice("Denied", row.reason);
      edited.mutable_spec()["class"] = slice_class;
      // The first request: there is nothing that could go on.
      CHECK(why_closed(&edited, false) == Closed::denied);
      edited.mutable_status()["resources"] = json::object{};
      CHECK(why_closed(&edited, false) == Closed::denied);
      edited.mutable_status()["resources"] = json::object{{"cpu", "8"}};
      const Closed expected = slice_class == "gold" ? row.custom : row.built_in;
      CHECK(why_closed(&edited, false) == expected);
      CHECK(why_closed(&edited, true) == (expected == Closed::no ? Closed::full : expected));
      CHECK(denied_request_text(edited).has_value() == (expected == Closed::no));
    }
  kube::Object edited = slice("Denied", "RequestDenied");
  edited.mutable_spec()["providerClusterID"] = "milan";
  edited.mutable_status()["resources"] = json::object{{"cpu", "8"}, {"memory", "1Gi"}};
  edited.mutable_status()["conditions"].as_array()[0].as_object()["message"] = "no more than 9\nof cpu";
  CHECK(denied_request_text(edited) ==
        "cluster milan denies what the slice asks for now, \"no more than 9 of cpu\"; granted as before: cpu 8, memory "
        "1Gi. Set the spec back to what it was, or ask its operator what it allows");
  edited.mutable_status()["conditions"].as_array()[0].as_object()["status"] = "Accepted";
  CHECK_FALSE(denied_request_text(edited).has_value());
}

TEST_CASE("a closed node has a taint that goes when it opens, and the taints of others stay") {
  const kube::Object wish = parse(R"({"metadata": {"name": "milan", "namespace": "t"}, "spec": {"clusterID": "milan",
    "resourceQuota": {"hard": {"cpu": "2", "memory": "3Gi"}}}})");
  const NodeContext ctx;
  ProviderHealth health{.probed = true};
  health.closed = Closed::denied;
  kube::Object node = forge_node({.virtual_node = api::VirtualNode(wish), .health = health, .ctx = ctx}, at());
  CHECK(taints(node) == R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"},)"
                        R"({"key":"virtual-node.liqo.io/closed","value":"denied","effect":"NoSchedule"}])");
  node.mutable_spec()["taints"].as_array().push_back(parse_value(R"({"key": "theirs", "effect": "NoSchedule"})"));
  health.closed = Closed::full;
  const auto changes = [&] {
    return std::get<node_action::Update>(
               plan_node(node, {.virtual_node = api::VirtualNode(wish), .health = health, .ctx = ctx}, at()))
        .metadata.value();
  };
  CHECK(json::serialize(changes().at("spec")).find(R"("value":"full")") != std::string::npos);
  health.closed = Closed::no;
  CHECK(json::serialize(changes().at("spec").at("taints")) ==
        R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"},)"
        R"({"key":"theirs","effect":"NoSchedule"}])");
}

TEST_CASE("a node that could never hold a demand says which amount is too large") {
  const auto why = [](std::string_view spec, std::string_view allocatable) {
    const kube::Object pod = local_pod("{}", spec);
    const auto has = read_resources(parse_value(allocatable).get_object());
    REQUIRE(has.has_value());
    return why_too_large(scheduled_demand(pod), *has);
  };
  const std::string_view six = R"({"containers": [{"name": "a", "resources": {"requests": {"cpu": "4"}}},
    {"name": "b", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "9"}}}]})";
  CHECK(why(six, R"({"cpu": "6", "memory": "1Gi", "pods": "1"})") == "");
  CHECK(why(six, R"({"cpu": "5", "memory": "1Gi"})") == "it asks for 6 of cpu, and the node has 5 in all");
  CHECK(why(six, R"({"cpu": "6", "memory": "1Gi", "pods": "0"})") ==
        "it asks for 1 of pods, and the node has 0 in all");
  // Its provider reports that it grants none, which is no lack of room.
  CHECK(why(six, R"({"cpu": "6"})") == "");
  CHECK(why(six, "{}") == "");
  // As the scheduler counts it: the larger of what runs together and what runs before.
  CHECK(why(R"({"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}],
    "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]})",
            R"({"cpu": "2"})") == "it asks for 3 of cpu, and the node has 2 in all");
  CHECK(why(R"({"containers": [{"name": "a", "resources": {"requests": {"cpu": "much"}}}]})", R"({"cpu": "1"})") == "");
}

TEST_CASE("a pod that its node can never hold ends once, where it never ran and its controller makes another one") {
  constexpr std::string_view told = R"({"conditions": [{"type": "PodScheduled", "status": "True"},
    {"type": "offloading.liqo.io/Offloaded", "status": "False", "reason": "OffloadingRefused", "message": "no"}]})";
  const auto pod = [&](std::string_view owner, std::string_view status, std::string_view version = "apps/v1") {
    return local_pod(status, "{}",
                     R"({"ownerReferences": [{"apiVersion": ")" + std::string(version) +
                         R"(", "name": "web", "uid": "o1", "controller": true, "kind": ")" + std::string(owner) +
                         R"("}]})");
  };
  const auto plan = [](const kube::Object& local, PodMemory memory = {}) {
    memory.too_large = "it asks for 6 of cpu, and the node has 5 in all";
    return plan_pod({&local, nullptr, nullptr}, memory, context());
  };
  for (const auto& [owner, version] : {std::pair{"ReplicaSet", "apps/v1"},
                                       {"StatefulSet", "apps/v1"},
                                       {"ReplicationController", "v1"},
                                       {"Job", "batch/v1"}}) {
    CAPTURE(owner);
    const PodPlan ended = plan(pod(owner, told, version));
    REQUIRE(std::holds_alternative<pod_action::FailLocal>(ended.action));
    const auto& fail = std::get<pod_action::FailLocal>(ended.action);
    CHECK(fail.reason == "OffloadingAborted");
    CHECK(fail.message ==
          "this node can never hold the pod, so its controller makes another one: it asks for 6 of cpu, and the node "
          "has 5 in all; let it ask for less, or have more granted");
    CHECK(fail.never_ran);
    CHECK(ended.confirm_first);
  }
  const auto waits = [&](const kube::Object& local, PodMemory memory = {}) {
    return std::holds_alternative<pod_action::CreateShadow>(plan(local, std::move(memory)).action);
  };
  // Nobody makes another one, or it would be made for the same node.
  CHECK(waits(local_pod()));
  CHECK(waits(pod("DaemonSet", told)));
  CHECK(waits(pod("Workflow", told, "argoproj.io/v1alpha1")));
  CHECK(waits(pod("Job", told, "batch.volcano.sh/v1alpha1")));
  CHECK(waits(pod("ReplicaSet", R"({"phase": "Pending"})")));
  // It has run, or may have.
  CHECK(waits(pod("ReplicaSet", R"({"phase": "Running", "conditions": [{"type": "PodScheduled"}]})")));
  CHECK(waits(pod("ReplicaSet", told), {.remote_started = true}));
  CHECK(waits(pod("ReplicaSet", told), {.sent = true}));
  // It could be held.
  const kube::Object fits = pod("ReplicaSet", told);
  CHECK(std::holds_alternative<pod_action::CreateShadow>(plan_pod({&fits, nullptr, nullptr}, {}, context()).action));
}

TEST_CASE("a pod that ran and is shut out ends, and one that never ran waits") {
  const auto plan = [](const kube::Object& local, PodMemory memory) {
    return plan_pod({&local, nullptr, nullptr}, memory, context()).action;
  };
  const kube::Object ran = local_pod(R"({"phase": "Running"})"), waits = local_pod(R"({"phase": "Pending"})");
  const auto ended = plan(ran, {.shut_out = true});
  REQUIRE(std::holds_alternative<pod_action::FailLocal>(ended));
  CHECK(std::get<pod_action::FailLocal>(ended).reason == "OffloadingAborted");
  CHECK(std::holds_alternative<pod_action::CreateShadow>(plan(ran, {})));
  CHECK(std::holds_alternative<pod_action::CreateShadow>(plan(waits, {.shut_out = true})));
}

TEST_CASE("what a provider says of its containers is stored within bounds") {
  kube::Object remote = reflected("Pod", "r1", "u1", R"({"phase": "Running"})");
  json::array containers;
  for (int i = 0; i < 300; ++i)
    containers.push_back(json::object{
        {"name", "c" + std::to_string(i)},
        {"image", std::string(100'000, 'i')},
        {"restartCount", 1},
        {"state", json::object{{"waiting", json::object{{"message", "\u00e9" + std::string(9'000, 'm')}}}}}});
  json::value deep = json::object{};
  for (int i = 0; i < 500; ++i) deep = json::object{{"d", std::move(deep)}};
  containers[0].as_object()["volumeMounts"] = json::array(10'000, json::value(1));
  containers[0].as_object()["user"] = std::move(deep);
  remote.mutable_status()["containerStatuses"] = std::move(containers);
  const kube::Object local = local_pod(R"({"phase": "Pending"})");
  const auto wanted = forge_local_status({.local = local, .remote = &remote}, {}, at());
  REQUIRE(wanted);
  const std::string text = json::serialize(wanted->status);
  CHECK(text.size() < 400'000);
  const json::array& kept = kube::array_at(wanted->status, {"containerStatuses"});
  REQUIRE_FALSE(kept.empty());
  CHECK(kube::string_at(kept[0], {"image"}).size() == 4096);
  CHECK(kube::int_at(kept[0], {"restartCount"}) == 1);
  CHECK(kube::array_at(kept[0], {"volumeMounts"}).size() <= 64);
}

}  // namespace liqo::core
