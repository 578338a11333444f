// A pod is deleted at home with another time to end than its own.
#include "core/offloading/ending.hpp"

#include "../objects.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/shadow_plan.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace pod_action;

constexpr std::string_view key = "offloading.liqo.io/ending-grace-seconds";

void end_within(kube::Object& pod, std::int64_t seconds) {
  pod.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  pod.mutable_metadata()["deletionGracePeriodSeconds"] = seconds;
}

/// A running pod at home with that time of its own, deleted with `asked`; -1 = not deleted.
kube::Object local(std::int64_t own, std::int64_t asked) {
  kube::Object pod = local_pod(R"({"phase": "Running"})");
  pod.mutable_spec()["terminationGracePeriodSeconds"] = own;
  if (asked >= 0) end_within(pod, asked);
  return pod;
}
/// Its remote pod, which has `has` seconds to end; -1 = it is not deleted.
kube::Object remote(std::int64_t has, std::string_view phase = "Running") {
  kube::Object pod = reflected("Pod", "r1", "u1", R"({"phase": ")" + std::string(phase) + R"("})");
  pod.mutable_spec()["nodeName"] = "worker";
  pod.set_annotation("offloading.liqo.io/applied-spec", "1f");
  if (has >= 0) end_within(pod, has);
  return pod;
}
kube::Object shadow(std::string_view says, bool deleting = false) {
  kube::Object order = reflected("ShadowPod", "s1", "u1", R"({"phase": "Running"})", deleting);
  order.tree()["apiVersion"] = "offloading.liqo.io/v1beta1";
  order.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  if (!says.empty()) order.set_annotation(key, says);
  return order;
}

}  // namespace

TEST_CASE("the time that the remote pod is to have is told where it is another than the pod's own") {
  struct Case {
    const char* title;
    std::int64_t own, asked, has;
    std::optional<std::int64_t> expected;
  };
  for (const Case& c : std::initializer_list<Case>{{"not deleted", 600, -1, -1, {}},
                                                   {"its own", 600, 600, -1, {}},
                                                   {"shorter", 600, 1, -1, 1},
                                                   {"longer", 30, 300, -1, 300},
                                                   {"held at home without any", 600, 0, -1, 1},
                                                   {"the remote pod ends in its own", 600, 1, 600, 1},
                                                   {"it has been hastened", 600, 1, 1, {}},
                                                   {"it ends sooner, as its provider says", 30, 300, 100, {}}}) {
    CAPTURE(c.title);
    CHECK(asked_grace(local(c.own, c.asked), remote(c.has)) == c.expected);
  }
  CHECK_FALSE(asked_grace(local(600, 1), remote(-1, "Succeeded")).has_value());
  kube::Object ended = local(600, 0);
  ended.mutable_status()["phase"] = "Succeeded";
  CHECK_FALSE(asked_grace(ended, remote(-1)).has_value());
}

TEST_CASE("a ShadowPod that says nothing sensible says nothing") {
  CHECK_FALSE(ordered_grace(shadow("")).has_value());
  CHECK(ordered_grace(shadow("7")) == 7);
  for (const char* less : {"0", "-5"}) CHECK(ordered_grace(shadow(less)) == 1);
  for (const char* text : {"soon", "1s", "1.5", "99999999999999999999", " 1"})
    CHECK_FALSE(ordered_grace(shadow(text)).has_value());
  const kube::Object order = shadow("");
  const auto patch = grace_patch(order, 5);
  CHECK(kube::string_at(patch, {"metadata", "uid"}) == "s1");
  CHECK(kube::string_at(patch, {"metadata", "annotations", key}) == "5");
}

TEST_CASE("the consumer tells the time first, then waits for the end to begin, then deletes the ShadowPod") {
  const auto plan = [](const kube::Object& at_home, const kube::Object& order, const kube::Object* away,
                       PodMemory memory = {}) { return plan_pod({&at_home, &order, away}, memory, context()).action; };
  const kube::Object runs = remote(-1), hurries = remote(1), takes_its_time = remote(600);
  CHECK(std::get<SendGrace>(plan(local(600, 1), shadow(""), &runs)).seconds == 1);
  CHECK(std::get<SendGrace>(plan(local(600, 1), shadow("600"), &runs)).seconds == 1);
  CHECK(std::get<AwaitEnding>(plan(local(600, 1), shadow("1"), &runs)).seconds == 1);
  CHECK_FALSE(std::get<DeleteShadow>(plan(local(600, 1), shadow("1"), &hurries)).foreground);
  // If the provider does not follow, the pod has to end all the same.
  CHECK(std::get<DeleteShadow>(plan(local(600, 1), shadow("1"), &runs, {.grace_given_up = 1})).foreground);
  CHECK(std::get<SendGrace>(plan(local(600, 1), shadow("5"), &runs, {.grace_given_up = 5})).seconds == 1);
  // Nobody asked for another time, or there is nothing to end: no word costs nothing.
  CHECK_FALSE(std::get<DeleteShadow>(plan(local(30, 30), shadow(""), &runs)).foreground);
  CHECK_FALSE(std::get<DeleteShadow>(plan(local(600, 1), shadow(""), nullptr)).foreground);
  // A pod that has long to end keeps its ShadowPod, by which it can be made to end sooner.
  CHECK(std::get<DeleteShadow>(plan(local(600, 600), shadow(""), &runs)).foreground);
  CHECK(std::holds_alternative<Nothing>(plan(local(600, 600), shadow("", true), &takes_its_time)));
  // A provider of the Go version would make the Pod again as long as its ShadowPod is there.
  kube::Object of_go = runs;
  of_go.mutable_metadata().erase("annotations");
  CHECK_FALSE(std::get<DeleteShadow>(plan(local(600, 600), shadow(""), &of_go)).foreground);
  CHECK(std::get<SendGrace>(plan(local(600, 1), shadow("", true), &takes_its_time)).seconds == 1);
  CHECK(std::holds_alternative<Nothing>(plan(local(600, 1), shadow("1", true), &takes_its_time)));
  CHECK(std::holds_alternative<Nothing>(plan(local(600, 1), shadow("1", true), &hurries)));
}

TEST_CASE("a pod that is back at home is not kept by a ShadowPod that was to end") {
  const kube::Object back = local(600, -1), told = shadow("1"), ended = shadow("1", true), runs = remote(-1);
  CHECK(std::holds_alternative<DeleteShadow>(plan_pod({&back, &told, &runs}, {}, context()).action));
  CHECK(std::holds_alternative<DeleteShadow>(plan_pod({&back, &told, nullptr}, {}, context()).action));
  CHECK(std::holds_alternative<Nothing>(plan_pod({&back, &ended, nullptr}, {}, context()).action));
}

TEST_CASE("the provider ends the pod as the ShadowPod says, no later than it lets pods end, and makes no other") {
  struct Case {
    const char* title;
    const char* says;
    std::int64_t has;
    std::optional<std::int64_t> expected;
    bool deleting = false;
    std::int64_t most = 86400;
  };
  for (const Case& c : std::initializer_list<Case>{{"runs on", "", -1, {}},
                                                   {"told", "5", -1, 5},
                                                   {"told, ends already so", "5", 5, {}},
                                                   {"told to hurry", "5", 600, 5},
                                                   {"cannot be slowed down", "600", 5, {}},
                                                   {"by force", "0", -1, 1},
                                                   {"longer than pods may take", "900", -1, 100, false, 100},
                                                   {"a policy below the default", "900", -1, 30, false, 10},
                                                   {"told, held while it is deleted", "5", 600, 5, true}}) {
    CAPTURE(c.title);
    const kube::Object order = shadow(c.says, c.deleting);
    kube::Object pod = forge_provider_pod(order);
    pod.mutable_metadata()["uid"] = "p1";
    pod.mutable_spec()["nodeName"] = "worker";
    pod.mutable_status()["phase"] = "Running";
    if (c.has >= 0) end_within(pod, c.has);
    PodPolicy policy;
    policy.max_termination_grace_seconds = c.most;
    const ShadowPlan plan = plan_shadow_pod({order, &pod}, {}, nullptr, policy);
    const auto* removal = std::get_if<shadow_action::RemovePod>(&plan);
    REQUIRE((removal != nullptr) == c.expected.has_value());
    if (removal) CHECK(removal->grace_seconds == c.expected);
  }
  CHECK(std::holds_alternative<shadow_action::Nothing>(plan_shadow_pod({shadow("5"), nullptr}, {})));
  const kube::Object held = shadow("", true);
  kube::Object pod = forge_provider_pod(held);
  const ShadowPlan plan = plan_shadow_pod({held, &pod}, {});
  CHECK_FALSE(std::get<shadow_action::RemovePod>(plan).grace_seconds.has_value());
}

TEST_CASE("what a pod at home says in that annotation is not handed on") {
  kube::Object pod = local_pod();
  pod.set_annotation(key, "1");
  const auto forged = reflected_annotations(pod, context());
  CHECK_FALSE(forged.contains(key));
}

}  // namespace liqo::core
