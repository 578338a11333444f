// Refusals of a provider that has taken the ShadowPod: reported on the ShadowPod, and by it at home.
#include "../objects.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "core/offloading/shadow_pod_update.hpp"
#include "kube/base/printable.hpp"

namespace liqo::core {
namespace {

using namespace testing;

constexpr const char* refused = "offloading.liqo.io/refused";

kube::Object shadow(std::string_view refusal = "") {
  kube::Object made = reflected("ShadowPod", "s1", "u1", R"({"phase": "Unknown"})");
  made.tree()["apiVersion"] = "offloading.liqo.io/v1beta1";
  made.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  if (!refusal.empty()) made.set_annotation(refused, refusal);
  return made;
}

const json::value& annotation_in(const json::object& patch) {
  return patch.at("metadata").at("annotations").at(refused);
}

std::string message_of(const WantedStatus& wanted) { return std::string(reported_refusal(wanted.status)); }

}  // namespace

TEST_CASE("the ShadowPod tells why its pod is not made, and is written only for news") {
  const auto first = refusal_patch(shadow(), "violates PodSecurity");
  REQUIRE(first);
  CHECK(annotation_in(*first) == "violates PodSecurity");
  CHECK(first->at("metadata").at("uid") == "s1");
  CHECK_FALSE(refusal_patch(shadow("violates PodSecurity"), "violates PodSecurity"));
  CHECK(refusal_patch(shadow("violates PodSecurity"), "exceeded quota"));
  CHECK_FALSE(refusal_patch(shadow(), ""));
  const auto over = refusal_patch(shadow("exceeded quota"), "");
  REQUIRE(over);
  CHECK(annotation_in(*over).is_null());
  // Bounded, and bounded the same way each time.
  std::string umlauts = "x";
  for (int i = 0; i < 1000; ++i) umlauts += "\xc3\xbc";
  const auto cut = refusal_patch(shadow(), umlauts);
  REQUIRE(cut);
  const std::string kept(annotation_in(*cut).as_string());
  CHECK(kept.size() == 999);
  CHECK_FALSE(refusal_patch(shadow(kept), umlauts));
}

TEST_CASE("a text is cut between its characters") {
  CHECK(kube::cut_text("abc", 3) == "abc");
  CHECK(kube::cut_text("abcd", 3) == "abc");
  CHECK(kube::cut_text("ab\xc3\xbc", 3) == "ab");
  CHECK(kube::cut_text("ab\xc3\xbc", 4) == "ab\xc3\xbc");
  CHECK(kube::cut_text("\x80\x80\x80\x80", 2) == "");
}

TEST_CASE("once the pod is made nothing is told of a refusal any more") {
  kube::Object order = shadow("exceeded quota");
  kube::Object pod = forge_provider_pod(order);
  CHECK_FALSE(pod.has_annotation(refused));
  pod.mutable_metadata()["uid"] = "p1";
  const auto keep = [](const ShadowSight& sight) { return std::get<shadow_action::Keep>(plan_shadow_pod(sight, {})); };
  const shadow_action::Keep plan = keep({order, &pod});
  REQUIRE(find_step<shadow_action::Report>(plan));
  CHECK(annotation_in(find_step<shadow_action::Report>(plan)->patch).is_null());
  CHECK_FALSE(find_step<shadow_action::PatchPod>(plan));
  CHECK_FALSE(find_step<shadow_action::Report>(keep({shadow(), &pod})));
  // Without its pod it is tried again, and what was reported stands until then.
  CHECK(std::holds_alternative<shadow_action::Create>(plan_shadow_pod({order, nullptr}, {})));
}

TEST_CASE("the consumer leaves the provider's words alone, and cannot say them in a pod's name") {
  kube::Object local = local_pod();
  local.set_annotation(refused, "said by a user");
  const auto forged = shadow("exceeded quota");
  kube::Object known = forged;
  known.set_annotation("offloading.liqo.io/reflected-keys", ";");
  for (const kube::Object& order : {forged, known}) {
    const auto patch = plan_shadow_pod_update(local, order, context());
    if (patch) CHECK_FALSE(kube::find(*patch, {"metadata", "annotations", refused}));
  }
}

TEST_CASE("the refusal stands in one condition at home, until the pod is there") {
  const StatusContext ctx{.provider = "milan"};
  const kube::Object pending = local_pod(R"({"phase": "Pending"})");
  const kube::Object order = shadow("violates PodSecurity \"restricted\"");
  const auto told = forge_local_status({.local = pending, .shadow = &order}, ctx, at());
  REQUIRE(told);
  CHECK(message_of(*told) ==
        "cluster milan refuses the pod: violates PodSecurity \"restricted\"; let the pod ask for less, or ask the "
        "administrator of cluster milan for another level (annotation offloading.liqo.io/twin-pod-security of the "
        "tenant namespace there)");
  kube::Object after = pending;
  after.mutable_status() = told->status;
  for (const auto& [key, value] : told->labels) after.set_label(key, value.as_string());
  const auto again = forge_local_status({.local = after, .shadow = &order}, ctx, at(std::chrono::seconds(9)));
  REQUIRE(again);
  CHECK_FALSE(status_patch(after, *again));
  // A pod that ran, was lost, and is refused now: both are reported.
  const kube::Object ready = local_pod(R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})");
  const auto lost = forge_local_status({.local = ready, .shadow = &order}, ctx, at());
  REQUIRE(lost);
  CHECK_FALSE(message_of(*lost).empty());
  const json::array& conditions = kube::array_at(lost->status, {"conditions"});
  REQUIRE(conditions.size() == 2);
  CHECK(kube::string_at(conditions[0], {"reason"}) == "RemotePodMissing");
  const kube::Object remote = reflected("Pod", "r1", "u1", R"({"phase": "Running"})");
  const auto runs = forge_local_status({.local = after, .remote = &remote, .shadow = &order}, ctx, at());
  REQUIRE(runs);
  CHECK(message_of(*runs).empty());
  // What a provider says is cut here too.
  const kube::Object endless = shadow(std::string(100'000, 'x'));
  CHECK(message_of(*forge_local_status({.local = pending, .shadow = &endless}, ctx, at())).size() < 1100);
}

}  // namespace liqo::core
