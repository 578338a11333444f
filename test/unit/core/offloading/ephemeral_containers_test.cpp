// Ephemeral containers on their way to the provider, and how they fare.
#include "core/offloading/ephemeral_containers.hpp"

#include "../objects.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "core/offloading/shadow_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;

std::string containers(std::string_view list) { return R"({"ephemeralContainers": )" + std::string(list) + "}"; }

/// The pod at home, with these ephemeral containers and their statuses.
kube::Object home(std::string_view list, std::string_view statuses = "[]") {
  return local_pod(R"({"phase": "Running", "ephemeralContainerStatuses": )" + std::string(statuses) + "}",
                   containers(list));
}

/// Its ShadowPod, which has these.
kube::Object order(std::string_view list = "[]", std::string_view phase = "Running") {
  kube::Object shadow = reflected("ShadowPod", "s1", "u1", R"({"phase": ")" + std::string(phase) + R"("})");
  shadow.mutable_metadata()["resourceVersion"] = "7";
  shadow.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  shadow.mutable_spec()["pod"].as_object()["ephemeralContainers"] = parse_value(list);
  return shadow;
}

shadow_action::Keep keep(const kube::Object& shadow, const kube::Object& pod) {
  return std::get<shadow_action::Keep>(plan_shadow_pod({shadow, &pod}, {}));
}

/// The Pod at the provider, which has these, and reports these.
kube::Object run(std::string_view list = "[]", std::string_view statuses = "[]", std::string_view note = "") {
  kube::Object pod = forge_provider_pod(order());
  pod.mutable_metadata()["uid"] = "r1";
  pod.mutable_metadata()["resourceVersion"] = "9";
  pod.mutable_spec()["ephemeralContainers"] = parse_value(list);
  pod.mutable_status()["phase"] = "Running";
  pod.mutable_status()["ephemeralContainerStatuses"] = parse_value(statuses);
  if (!note.empty()) pod.set_annotation("offloading.liqo.io/ephemeral-containers-left-out", note);
  return pod;
}

std::string names(const json::array& list) {
  std::string text;
  for (const json::value& entry : list) text += std::string(kube::string_at(entry, {"name"})) + " ";
  return text;
}

constexpr std::string_view running = R"([{"name": "a", "state": {"running": {}}}])";
constexpr std::string_view ended = R"([{"name": "a", "state": {"terminated": {"exitCode": 7}}}])";

}  // namespace

TEST_CASE("the ShadowPod gets the ephemeral containers that it lacks, behind those that it has") {
  struct Case {
    const char *title, *at_home;
    std::string_view statuses;
    const char *have, *wanted;
  };
  for (const Case& c : {
           Case{"none", "[]", "[]", "[]", ""},
           Case{"one", R"([{"name": "a"}])", "[]", "[]", "a "},
           Case{"the same", R"([{"name": "a"}])", running, R"([{"name": "a"}])", ""},
           Case{"one more", R"([{"name": "b"}, {"name": "a"}])", "[]", R"([{"name": "a"}])", "a b "},
           Case{"two", R"([{"name": "b"}, {"name": "a"}])", "[]", "[]", "b "},
           Case{"one that waits", R"([{"name": "a"}])", R"([{"name": "a", "state": {"waiting": {}}}])", "[]", "a "},
           Case{"one that has run", R"([{"name": "a"}, {"name": "b"}])", running, "[]", "b "},
           Case{"one that has ended", R"([{"name": "a"}])", ended, "[]", ""},
           Case{"of somebody else", "[]", "[]", R"([{"name": "a"}])", ""},
       }) {
    CAPTURE(c.title);
    const auto patch = plan_shadow_ephemeral(home(c.at_home, c.statuses), order(c.have), context());
    CHECK((patch ? names(kube::array_at(*patch, {"spec", "pod", "ephemeralContainers"})) : "") == c.wanted);
    if (!patch) continue;
    CHECK(kube::string_at(*patch, {"metadata", "uid"}) == "s1");
    CHECK(kube::string_at(*patch, {"metadata", "resourceVersion"}) == "7");
  }
}

TEST_CASE("an ephemeral container is sent as it is, with the address of the API server where its pod has it") {
  const kube::Object pod =
      home(R"([{"name": "a", "image": "busybox", "targetContainerName": "main", "stdin": true, "resources": {}}])");
  const auto first = [&](const ForgingContext& ctx) {
    const auto patch = plan_shadow_ephemeral(pod, order(), ctx);
    REQUIRE(patch);
    return kube::array_at(*patch, {"spec", "pod", "ephemeralContainers"}).at(0);
  };
  CHECK(first(context()) ==
        parse_value(R"({"name": "a", "image": "busybox", "targetContainerName": "main", "stdin": true})"));
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  ctx.api_server_host = "rome.example.com";
  const json::value container = first(ctx);
  CHECK(kube::string_at(kube::array_at(container, {"env"}).at(0), {"value"}) == "rome.example.com");
}

TEST_CASE("the Pod gets one after the other, but for those that it is noted not to get") {
  const auto added = [](const kube::Object& shadow, const kube::Object& pod) {
    const auto addition = plan_ephemeral_addition(shadow, pod, {});
    return addition ? addition->name : "";
  };
  const kube::Object two = order(R"([{"name": "a"}, {"name": "b"}])");
  CHECK(added(order(), run()) == "");
  CHECK(added(two, run()) == "a");
  CHECK(added(two, run(R"([{"name": "a"}])")) == "b");
  CHECK(added(two, run(R"([{"name": "b"}, {"name": "other"}, {"name": "a"}])")) == "");
  CHECK(added(two, run("[]", "[]", R"({"a": "no"})")) == "b");
  CHECK(added(order(R"([1, {"image": "x"}])"), run()) == "");
  // A note that nobody can read forbids nothing.
  CHECK(added(two, run("[]", "[]", "{")) == "a");

  const auto addition = plan_ephemeral_addition(two, run(), {.always_pull_images = true});
  REQUIRE(addition);
  CHECK(addition->patch == parse_value(R"({"metadata": {"resourceVersion": "9"},
    "spec": {"ephemeralContainers": [{"name": "a", "imagePullPolicy": "Always"}]}})")
                               .get_object());
}

TEST_CASE("a refusal is noted beside those that were noted before, and cut") {
  kube::Object pod = run("[]", "[]", R"({"a": "no"})");
  const json::object patch = ephemeral_refusal_patch(pod, "b", std::string(10'000, 'x'));
  CHECK(kube::string_at(patch, {"metadata", "uid"}) == "r1");
  const std::string note(
      kube::string_at(patch, {"metadata", "annotations", "offloading.liqo.io/ephemeral-containers-left-out"}));
  CHECK(note.starts_with(R"({"a":"no","b":"xxx)"));
  CHECK(note.size() < 600);
  pod.set_annotation("offloading.liqo.io/ephemeral-containers-left-out", note);
  CHECK_FALSE(plan_ephemeral_addition(order(R"([{"name": "a"}, {"name": "b"}])"), pod, {}));
}

TEST_CASE("a consumer cannot have the note taken off the Pod, to be refused again and again") {
  kube::Object shadow = order(R"([{"name": "a"}])");
  shadow.set_annotation("offloading.liqo.io/reflected-keys", ";offloading.liqo.io/ephemeral-containers-left-out");
  kube::Object pod = forge_provider_pod(shadow);
  pod.mutable_metadata()["uid"] = "r1";
  pod.set_annotation("offloading.liqo.io/ephemeral-containers-left-out", R"({"a": "no"})");
  const auto plan = keep(shadow, pod);
  CHECK_FALSE(find_step<shadow_action::PatchPod>(plan));
  CHECK_FALSE(find_step<EphemeralAddition>(plan));
}

TEST_CASE("how ephemeral containers fare is told at home") {
  const kube::Object has = order(R"([{"name": "a"}])"), lacks = order();
  kube::Object of_go = run();
  of_go.mutable_metadata().erase("annotations");
  const std::string_view home_ended = R"([{"name": "a", "state": {"terminated": {"reason": "Old"}}}])";
  struct Case {
    const char* title;
    std::string_view at_home;
    kube::Object remote;
    const kube::Object* shadow;
    const char *refusal, *state, *words;
  };
  for (const Case& c : {
           Case{"it is on its way", "[]", run(), &has, "", "", ""},
           Case{"it waits to be sent", "[]", run(), &lacks, "", "", ""},
           Case{"it runs", "[]", run("[]", running), &has, "", "running", ""},
           Case{"it ends", running, run("[]", ended), &has, "", "terminated", ""},
           Case{"nothing new", running, run(), &has, "", "running", ""},
           Case{"it has ended at home, and runs there", home_ended, run("[]", running), &has, "", "terminated", "Old"},
           Case{"the ShadowPod is refused", "[]", run(), &lacks, "no privileges", "terminated",
                "cluster milan does not run the ephemeral container: no privileges"},
           Case{"the Pod is refused", "[]", run("[]", "[]", R"({"a": "PodSecurity"})"), &has, "", "terminated",
                "cluster milan does not run the ephemeral container: PodSecurity"},
           Case{"the Pod was made again", running, run("[]", "[]", R"({"a": "made again"})"), &has, "", "terminated",
                "made again"},
           Case{"the ShadowPod was made again", running, run(), &lacks, "", "terminated", "made again"},
           Case{"a provider of the Go version", "[]", of_go, &lacks, "", "terminated", "does not carry them"},
           Case{"and one that has stored it", "[]", of_go, &has, "", "terminated", "does not carry them"},
       }) {
    CAPTURE(c.title);
    const kube::Object pod = home(R"([{"name": "a", "image": "busybox"}])", c.at_home);
    const json::array statuses =
        ephemeral_statuses({.local = pod, .remote = &c.remote, .shadow = c.shadow}, "milan", c.refusal);
    CHECK(statuses.size() == (*c.state ? 1 : 0));
    if (statuses.empty()) continue;
    CHECK(kube::find(statuses[0], {"state", c.state}));
    CHECK(json::serialize(statuses[0]).contains(c.words));
    // What is reported once is not reported in other words.
    const kube::Object told = home(R"([{"name": "a", "image": "busybox"}])", json::serialize(statuses));
    const json::array again =
        ephemeral_statuses({.local = told, .remote = &c.remote, .shadow = c.shadow}, "milan", "other words");
    CHECK((again == statuses || kube::find(statuses[0], {"state", "running"})));
  }
}

TEST_CASE("what a provider says against one container is said of no other") {
  const kube::Object pod = home(R"([{"name": "a"}, {"name": "b"}])"), lacks = order(), remote = run();
  const json::array statuses =
      ephemeral_statuses({.local = pod, .remote = &remote, .shadow = &lacks}, "milan", "no privileges");
  CHECK(names(statuses) == "a ");
  const kube::Object told = home(R"([{"name": "a"}, {"name": "b"}])", json::serialize(statuses));
  const json::array after = ephemeral_statuses({.local = told, .remote = &remote, .shadow = &lacks}, "milan", "");
  CHECK(after == statuses);
}

TEST_CASE("notes without words, and those that fill all the room, are believed") {
  const kube::Object has = order(R"([{"name": "a"}])");
  const kube::Object pod = home(R"([{"name": "a"}])"), noted = run("[]", "[]", R"({"a": 1})");
  const json::array statuses = ephemeral_statuses({.local = pod, .remote = &noted, .shadow = &has}, "milan", "");
  CHECK(json::serialize(statuses).contains("it does not say why"));
  const std::string large = R"({"a": "no", "b": ")" + std::string(200'000, 'x') + R"("})";
  CHECK_FALSE(plan_ephemeral_addition(has, run("[]", "[]", large), {}));
}

TEST_CASE("which containers were refused is known by the status at home") {
  const kube::Object pod = home("[]", R"([{"name": "a", "state": {"running": {}}},
    {"name": "b", "state": {"terminated": {"reason": "OffloadingRefused", "message": "no"}}},
    {"name": "c", "state": {"terminated": {"reason": "Completed", "message": "yes"}}}])");
  CHECK(why_refused(pod, "b") == "no");
  CHECK(why_refused(pod, "a").empty());
  CHECK(why_refused(pod, "c").empty());
  CHECK(why_refused(pod, "") == "no");
}

TEST_CASE("what a provider reports of containers that nobody asked for stays there, and has its bounds") {
  const kube::Object pod = home(R"([{"name": "a"}])");
  const std::string large = R"([{"name": "other", "state": {"running": {}}}, {"name": "a", "image": ")" +
                            std::string(100'000, 'x') + R"(", "state": {"running": {}}}])";
  const kube::Object shadow = order(R"([{"name": "a"}])"), remote = run("[]", large);
  const json::array statuses = ephemeral_statuses({.local = pod, .remote = &remote, .shadow = &shadow}, "milan", "");
  CHECK(names(statuses) == "a ");
  CHECK(json::serialize(statuses).size() < 10'000);
}

TEST_CASE("a Pod is made without ephemeral containers, and one that is made again never runs those of before") {
  const std::string_view list = R"([{"name": "a"}])";
  kube::Object lying = order(list, "Unknown");
  lying.set_annotation("offloading.liqo.io/ephemeral-containers-left-out", R"({"a": "a lie"})");
  for (const auto& [phase, again] : {std::pair{"Unknown", false}, std::pair{"Running", true}}) {
    CAPTURE(phase);
    kube::Object shadow = order(list, phase);
    kube::Object pod = std::get<shadow_action::Create>(plan_shadow_pod({shadow, nullptr}, {})).pod;
    CHECK_FALSE(pod.spec().contains("ephemeralContainers"));
    pod.mutable_metadata()["uid"] = "r2";
    const auto next = keep(shadow, pod);
    CHECK_FALSE(find_step<shadow_action::PatchPod>(next));
    CHECK((find_step<EphemeralAddition>(next) != nullptr) == !again);
    // Another one comes all the same.
    shadow.mutable_spec()["pod"].as_object()["ephemeralContainers"] = parse_value(R"([{"name": "a"}, {"name": "b"}])");
    const auto more = keep(shadow, pod);
    REQUIRE(find_step<EphemeralAddition>(more));
    CHECK(find_step<EphemeralAddition>(more)->name == (again ? "b" : "a"));
  }
  CHECK_FALSE(forge_provider_pod(lying).has_annotation("offloading.liqo.io/ephemeral-containers-left-out"));
}

}  // namespace liqo::core
