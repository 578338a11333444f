// The parts of a ShadowPod that follow its pod, and that nothing is written if nothing changed.
#include "core/offloading/shadow_pod_update.hpp"

#include "../objects.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/shadow_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;

/// The ShadowPod as the provider's API server has it after it was created.
kube::Object stored(const kube::Object& local, const ForgingContext& ctx = context()) {
  kube::Object shadow = forge_shadow_pod(local, "shop-rome", ctx)->shadow;
  shadow.mutable_metadata()["uid"] = "s1";
  shadow.mutable_metadata()["resourceVersion"] = "7";
  shadow.set_label("liqo.io/creator-user", "rome");
  shadow.mutable_status()["phase"] = "Running";
  return shadow;
}

}  // namespace

TEST_CASE("an equal ShadowPod is not written, with the creator's label and for every mode") {
  for (const auto mode : {ApiServerMode::never, ApiServerMode::needed, ApiServerMode::always}) {
    ForgingContext ctx = context();
    ctx.api_server_mode = mode;
    ctx.patch.tolerations = parse_value(R"([{"key": "pool", "operator": "Exists"}])").get_array();
    const kube::Object local =
        local_pod("{}", R"({"tolerations": [{"key": "a", "tolerationSeconds": 300}], "activeDeadlineSeconds": 5})");
    CHECK_FALSE(plan_shadow_pod_update(local, stored(local, ctx), ctx).has_value());
  }
}

TEST_CASE("a ShadowPod that came late is confirmed once") {
  const kube::Object local = local_pod();
  kube::Object shadow = stored(local);
  shadow.mutable_metadata()["creationTimestamp"] = "2026-11-21T10:00:00Z";
  stamp_order(shadow, at(std::chrono::seconds(-3)));
  CHECK_FALSE(plan_shadow_pod_update(local, shadow, context()).has_value());
  stamp_order(shadow, at(std::chrono::seconds(-60)));
  CHECK_FALSE(is_timely(shadow));
  const auto patch = plan_shadow_pod_update(local, shadow, context());
  REQUIRE(patch.has_value());
  CHECK(*patch == parse_value(R"({"metadata": {"uid": "s1", "resourceVersion": "7",
    "annotations": {"offloading.liqo.io/ordered-at": "2026-11-21T10:00:00Z"}}})"));
  stamp_order(shadow, at());
  CHECK(is_timely(shadow));
  CHECK_FALSE(plan_shadow_pod_update(local, shadow, context()).has_value());
}

TEST_CASE("only a create that a server has refused, or never got, is surely not carried out") {
  for (const auto& [code, expected] :
       {std::pair{404, false}, {403, false}, {409, false}, {429, false}, {500, true}, {504, true}}) {
    CAPTURE(code);
    kube::Status status;
    status.code = code;
    CHECK(may_be_carried_out(kube::Failure::from_status(status)) == expected);
  }
  CHECK(may_be_carried_out(kube::Failure(kube::Errc::closed, "")));
  CHECK(may_be_carried_out(kube::Failure(kube::Errc::timeout, "")));
  CHECK_FALSE(may_be_carried_out(kube::Failure(kube::Errc::connect, "")));
}

TEST_CASE("metadata that home changed follows, also removals, and what others added stays") {
  kube::Object local = local_pod("{}", "{}", R"({"labels": {"app": "web", "old": "1"}, "annotations": {"a": "1"}})");
  kube::Object shadow = stored(local);
  shadow.set_label("provider/added", "x");
  CHECK_FALSE(plan_shadow_pod_update(local, shadow, context()).has_value());
  local.mutable_metadata()["labels"] = json::object{{"app", "shop"}};
  local.mutable_metadata().erase("annotations");
  const auto patch = plan_shadow_pod_update(local, shadow, context());
  REQUIRE(patch.has_value());
  CHECK(*patch ==
        parse_value(R"({"metadata": {"uid": "s1", "resourceVersion": "7", "labels": {"app": "shop", "old": null},
    "annotations": {"a": null, "offloading.liqo.io/reflected-keys": "app;"}}})"));
}

TEST_CASE("a ShadowPod of the Go version is made equal, and marked with the pod it is for") {
  const kube::Object local = local_pod("{}", "{}", R"({"labels": {"foo": "bar"}})");
  kube::Object shadow = stored(local);
  shadow.mutable_metadata()["labels"] = parse_value(R"({"foo": "existing", "bar": "baz", "liqo.io/creator-user": "rome",
    "offloading.liqo.io/origin": "local-cluster", "offloading.liqo.io/destination": "remote-cluster",
    "offloading.liqo.io/nodename": "milan"})");
  shadow.mutable_metadata()["annotations"] = parse_value(R"({"extra": "1"})");
  const auto patch = plan_shadow_pod_update(local, shadow, context());
  REQUIRE(patch.has_value());
  CHECK(*patch ==
        parse_value(R"({"metadata": {"uid": "s1", "resourceVersion": "7", "labels": {"foo": "bar", "bar": null},
    "annotations": {"extra": null, "offloading.liqo.io/local-pod-uid": "u1",
                    "offloading.liqo.io/reflected-keys": "foo;"}}})"));
}

TEST_CASE("of the spec only what may change in a pod follows") {
  const kube::Object before =
      local_pod("{}", R"({"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}],
    "initContainers": [{"name": "i", "image": "i:1"}], "tolerations": [{"key": "t1"}]})");
  const kube::Object shadow = stored(before);
  const kube::Object after =
      local_pod("{}", R"({"containers": [{"name": "b", "image": "b:2"}, {"name": "a", "image": "a:1", "tty": true}],
    "initContainers": [{"name": "i", "image": "i:2"}], "tolerations": [{"key": "t1"}, {"key": "t2"}],
    "activeDeadlineSeconds": 60, "hostname": "new"})");
  const auto patch = plan_shadow_pod_update(after, shadow, context());
  REQUIRE(patch.has_value());
  CHECK(patch->at("spec") ==
        parse_value(R"({"pod": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:2"}],
    "initContainers": [{"name": "i", "image": "i:2"}], "tolerations": [{"key": "t1"}, {"key": "t2"}], "activeDeadlineSeconds": 60}})"));
  CHECK_FALSE(kube::find(*patch, {"metadata", "labels"}));
}

TEST_CASE("the nodes' label of unavailability does not travel") {
  kube::Object local = local_pod();
  const kube::Object shadow = stored(local);
  local.set_label("liqo.io/remote-unavailable", "true");
  local.set_label("liqo.io/shadowPod", "true");
  local.set_annotation("offloading.liqo.io/remote-pod-uid", "r1");
  local.set_annotation("offloading.liqo.io/restart-offset", "2");
  CHECK_FALSE(plan_shadow_pod_update(local, shadow, context()).has_value());
}

}  // namespace liqo::core
