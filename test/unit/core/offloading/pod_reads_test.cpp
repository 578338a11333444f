// The fields that a pod reads about itself, and how what home tells of them reaches the provider.
#include "core/offloading/pod_reads.hpp"

#include "../objects.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/provider_pod.hpp"
#include "core/offloading/shadow_pod.hpp"
#include "core/offloading/shadow_pod_update.hpp"

namespace liqo::core {
namespace {

using namespace testing;

std::string path_of(std::string_view annotation) { return "metadata.annotations['" + std::string(annotation) + "']"; }

/// A pod at home whose variable V and file f read the field with that path.
kube::Object reader(std::string_view path, std::string_view metadata = "{}", std::string_view spec = "{}") {
  kube::Object pod = local_pod("{}", spec, metadata);
  const json::object reference{{"fieldRef", json::object{{"apiVersion", "v1"}, {"fieldPath", path}}}};
  const json::array env{json::object{{"name", "V"}, {"valueFrom", reference}}};
  kube::ensure_array(pod.mutable_spec(), "containers")[0].get_object()["env"] = env;
  json::object file = reference;
  file["path"] = "f";
  file["mode"] = 256;
  const json::object files{{"items", json::array{std::move(file)}}};
  kube::ensure_array(pod.mutable_spec(), "volumes").push_back(json::object{{"name", "info"}, {"downwardAPI", files}});
  return pod;
}

kube::Object sent(const kube::Object& pod, std::string_view twin = "shop-rome", const ForgingContext& ctx = context()) {
  auto forged = forge_shadow_pod(pod, twin, ctx);
  REQUIRE(forged.has_value());
  forged->shadow.mutable_metadata()["uid"] = "s1";
  forged->shadow.mutable_metadata()["resourceVersion"] = "7";
  return std::move(forged->shadow);
}

const json::object& pod_of(const kube::Object& shadow) { return kube::object_at(shadow.spec(), {"pod"}); }

/// What a kubelet would make of a field reference of the Pod at the provider.
std::string resolve(const kube::Object& shadow, const json::value& reference) {
  const std::string path(kube::string_at(reference, {"fieldRef", "fieldPath"}));
  for (const auto& [of, map] :
       {std::pair{"metadata.annotations['", &shadow.annotations()}, std::pair{"metadata.labels['", &shadow.labels()}})
    if (path.starts_with(of)) {
      const std::string key = path.substr(std::string_view(of).size(), path.size() - std::string_view(of).size() - 2);
      return std::string(kube::string_at(*map, {key}));
    }
  return "(" + path + ")";
}

std::string variable(const kube::Object& shadow) {
  const json::value& entry = kube::array_at(kube::array_at(pod_of(shadow), {"containers"}).at(0), {"env"}).at(0);
  const json::value* source = kube::find(entry, {"valueFrom"});
  return source ? resolve(shadow, *source) : std::string(kube::string_at(entry, {"value"}));
}

std::string file(const kube::Object& shadow) {
  const json::value& volume = kube::array_at(pod_of(shadow), {"volumes"}).at(0);
  return resolve(shadow, kube::array_at(volume, {"downwardAPI", "items"}).at(0));
}

}  // namespace

TEST_CASE("a pod reads about itself what home would tell") {
  constexpr std::string_view metadata = R"({"labels": {"app": "web", "sidecar.istio.io/rev": "r", "liqo.io/shadowPod":
      "true"}, "annotations": {"note": "n", "tekton.dev/ready": "READY", "offloading.liqo.io/remote-pod-uid": "r1"}})";
  const struct {
    std::string_view path, variable, file;
  } cases[] = {
      {"metadata.name", "(metadata.name)", "(metadata.name)"},
      {"metadata.uid", "u1", "u1"},
      {"metadata.namespace", "(metadata.namespace)", "(metadata.namespace)"},
      {"spec.nodeName", "milan", "milan"},
      {"spec.serviceAccountName", "robot", "robot"},
      {"status.podIP", "(status.podIP)", "(status.podIP)"},
      {"status.hostIPs", "(status.hostIPs)", "(status.hostIPs)"},
      {"metadata.labels['app']", "web", "web"},
      {"metadata.labels['absent']", "", ""},
      {"metadata.labels['sidecar.istio.io/rev']", "r", "r"},
      {"metadata.labels['kueue.x-k8s.io/queue-name']", "", ""},
      {"metadata.labels['liqo.io/managed-by']", "", ""},
      {"metadata.labels['offloading.liqo.io/origin']", "", ""},
      {"metadata.annotations['note']", "n", "n"},
      {"metadata.annotations['tekton.dev/ready']", "READY", "READY"},
      {"metadata.annotations['tekton.dev/absent']", "", ""},
      {"metadata.annotations['offloading.liqo.io/remote-pod-uid']", "r1", "r1"},
      {"metadata.labels", "app=\"web\"\nsidecar.istio.io/rev=\"r\"", "app=\"web\"\nsidecar.istio.io/rev=\"r\""},
      {"metadata.annotations", "note=\"n\"\ntekton.dev/ready=\"READY\"", "note=\"n\"\ntekton.dev/ready=\"READY\""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.path);
    const kube::Object pod = reader(each.path, metadata, R"({"serviceAccountName": "robot"})");
    const kube::Object shadow = sent(pod);
    CHECK(variable(shadow) == each.variable);
    CHECK(file(shadow) == each.file);
    CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
  }
}

TEST_CASE("an annotation that the provider would leave out has a name that passes") {
  const kube::Object pod =
      reader("metadata.annotations['tekton.dev/ready']", R"({"annotations": {"tekton.dev/ready": "READY"}})");
  const kube::Object shadow = sent(pod);
  const std::string name = read_annotation("tekton.dev/ready");
  CHECK(name == "offloading.liqo.io/read.91e4afd3284776b3e9ce42406080daa8");
  CHECK(shadow.annotation(name) == "READY");
  // A policy may let the annotation itself pass.
  CHECK(shadow.annotation("tekton.dev/ready") == "READY");
  const json::value& item = kube::array_at(kube::array_at(pod_of(shadow), {"volumes"})[0], {"downwardAPI", "items"})[0];
  CHECK(item == parse_value(R"({"path": "f", "mode": 256, "fieldRef": {"apiVersion": "v1", "fieldPath": ")" +
                            path_of(name) + R"("}})"));
  const kube::Object there = forge_provider_pod(shadow);
  CHECK(there.annotation(name) == "READY");
  CHECK_FALSE(there.has_annotation("tekton.dev/ready"));
  // It is not missing.
  CHECK(left_out_of(pod, there).empty());
  kube::Object with_another = pod;
  with_another.set_annotation("tekton.dev/other", "x");
  CHECK(left_out_of(with_another, forge_provider_pod(sent(with_another))) ==
        std::vector<std::string>{"annotation tekton.dev/other"});
  const kube::Object of_all =
      reader("metadata.annotations", R"({"annotations": {"tekton.dev/ready": "", "tekton.dev/other": "x"}})");
  const kube::Object has_all = forge_provider_pod(sent(of_all));
  CHECK(has_all.annotation("offloading.liqo.io/left-out").contains("tekton.dev/other"));
  CHECK(left_out_of(of_all, has_all).empty());
}

TEST_CASE("what the pod reads follows by one write on each side") {
  kube::Object pod = reader("metadata.annotations['tekton.dev/ready']");
  kube::Object shadow = sent(pod);
  const std::string name = read_annotation("tekton.dev/ready");
  CHECK(shadow.has_annotation(name));
  const kube::Object there = forge_provider_pod(shadow);
  for (const std::string_view value : {"READY", "", "again"}) {
    CAPTURE(value);
    if (value.empty())
      pod.mutable_metadata().erase("annotations");
    else
      pod.set_annotation("tekton.dev/ready", value);
    const auto patch = plan_shadow_pod_update(pod, shadow, context());
    REQUIRE(patch.has_value());
    CHECK_FALSE(patch->contains("spec"));
    CHECK(kube::string_at(*patch, {"metadata", "annotations", name}) == value);
    shadow.set_annotation(name, value);
    const auto at_provider = plan_provider_pod_update(shadow, there, PodPolicy());
    REQUIRE(at_provider.has_value() == !value.empty());
    if (at_provider) CHECK(kube::string_at(*at_provider, {"metadata", "annotations", name}) == value);
  }
}

TEST_CASE("ShadowPods of an earlier version stay as they are") {
  kube::Object pod = reader("metadata.annotations['tekton.dev/ready']");
  kube::Object shadow = sent(pod);
  shadow.mutable_metadata()["annotations"].get_object().erase(read_annotation("tekton.dev/ready"));
  shadow.mutable_spec()["pod"] = pod.spec();
  CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
  pod.set_annotation("tekton.dev/ready", std::string(max_read_bytes, 'x'));
  CHECK(refuse_read_change(pod, shadow).empty());
}

TEST_CASE("the namespace is that of home if its name serves there") {
  const struct {
    const char *title, *twin, *metadata;
    bool has_token, knows_names;
    std::string_view told;
    bool is_reported;
  } cases[] = {
      {"a twin of the same name", "shop", "{}", false, false, "(metadata.namespace)", false},
      {"a twin of another name", "shop-rome", "{}", false, false, "(metadata.namespace)", true},
      {"a token", "shop-rome", "{}", true, false, "shop", false},
      {"names of home", "shop-local-cluster", "{}", false, true, "shop", false},
      {"names of home, which lead to another twin", "special", "{}", false, true, "(metadata.namespace)", true},
      {"of the provider", "shop-rome", R"({"annotations": {"liqo.io/downward-api": "provider"}})", true, true,
       "(metadata.namespace)", false},
      {"its API server", "shop-rome", R"({"annotations": {"liqo.io/api-server-support": "remote"}})", true, true,
       "(metadata.namespace)", false},
  };
  for (const auto& each : cases) {
    CAPTURE(each.title);
    kube::Object pod = reader("metadata.namespace", each.metadata, R"({"serviceAccountName": "robot"})");
    kube::ensure_array(pod.mutable_spec(), "volumes")
        .push_back(parse_value(R"({"name": "kube-api-access-x", "projected": {"sources": [
          {"serviceAccountToken": {"path": "token"}}, {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}})"));
    ForgingContext ctx = context();
    ctx.knows_home_names = each.knows_names;
    if (each.has_token) {
      ctx.api_server_mode = ApiServerMode::needed;
      ctx.api_server_host = "10.0.0.1";
    }
    const kube::Object shadow = sent(pod, each.twin, ctx);
    CHECK(variable(shadow) == each.told);
    CHECK(file(shadow) == each.told);
    const json::array& sources =
        kube::array_at(kube::array_at(pod_of(shadow), {"volumes"}).at(1), {"projected", "sources"});
    CHECK(resolve(shadow, kube::array_at(sources.at(sources.size() - 1), {"downwardAPI", "items"}).at(0)) == each.told);
    CHECK(describe_read_namespace(pod, each.twin, ctx).empty() != each.is_reported);
    CHECK_FALSE(plan_shadow_pod_update(pod, shadow, ctx).has_value());
  }
  // Almost every pod has the file beside the token.
  const kube::Object plain = local_pod("{}", R"({"volumes": [{"name": "kube-api-access-x", "projected": {"sources": [
      {"serviceAccountToken": {"path": "token"}},
      {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}}]})");
  CHECK(describe_read_namespace(plain, "shop-rome", context()).empty());
  CHECK(sent(plain).annotations() == sent(local_pod()).annotations());
}

TEST_CASE("a pod that asks for it reads what the provider knows") {
  for (const std::string_view asked : {R"({"annotations": {"liqo.io/downward-api": "provider"}})",
                                       R"({"annotations": {"liqo.io/api-server-support": "remote"}})"})
    for (const std::string_view path : {"metadata.uid", "spec.nodeName", "spec.serviceAccountName", "metadata.labels",
                                        "metadata.annotations['tekton.dev/ready']"}) {
      CAPTURE(asked);
      CAPTURE(path);
      ForgingContext ctx = context();
      ctx.api_server_mode = ApiServerMode::always;
      const kube::Object pod = reader(path, asked);
      const kube::Object shadow = sent(pod, "shop-rome", ctx);
      CHECK(kube::array_at(kube::array_at(pod_of(shadow), {"containers"}).at(0), {"env"}).at(0) ==
            kube::array_at(kube::array_at(pod.spec(), {"containers"}).at(0), {"env"}).at(0));
      CHECK(kube::array_at(pod_of(shadow), {"volumes"}) == kube::array_at(pod.spec(), {"volumes"}));
    }
}

TEST_CASE("keys that home itself does not send travel if the pod reads them") {
  ForgingContext ctx = context();
  ctx.patch.labels_not_reflected = {"private"};
  ctx.patch.annotations_not_reflected = {"internal"};
  constexpr std::string_view metadata = R"({"labels": {"private": "l"}, "annotations": {"internal": "a",
      "kubectl.kubernetes.io/last-applied-configuration": "{}"}})";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"metadata.labels['private']", "l"},
      {"metadata.annotations['internal']", "a"},
      {"metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']", "{}"}};
  for (const auto& [path, value] : cases) {
    CAPTURE(path);
    const kube::Object shadow = sent(reader(path, metadata), "shop-rome", ctx);
    CHECK(variable(shadow) == value);
  }
}

TEST_CASE("a label and an annotation with one key are told apart") {
  kube::Object pod = reader("metadata.labels['cilium.io/x']",
                            R"({"labels": {"cilium.io/x": "l"}, "annotations": {"cilium.io/x": "a"}})");
  json::value more = kube::array_at(kube::array_at(pod.spec(), {"containers"})[0], {"env"})[0];
  more.get_object()["name"] = "W";
  more.get_object()["valueFrom"].get_object()["fieldRef"].get_object()["fieldPath"] =
      "metadata.annotations['cilium.io/x']";
  kube::ensure_array(pod.mutable_spec(), "containers")[0].get_object()["env"].get_array().push_back(more);
  const kube::Object shadow = sent(pod);
  CHECK(variable(shadow) == "l");
  CHECK(resolve(shadow, *kube::find(kube::array_at(kube::array_at(pod_of(shadow), {"containers"})[0], {"env"})[1],
                                    {"valueFrom"})) == "a");
}

TEST_CASE("containers of all sorts read it, and what is no reference stays") {
  const kube::Object pod = local_pod("{}", R"_({
    "initContainers": [{"name": "i", "env": [{"name": "U", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]}],
    "containers": [{"name": "c", "env": [
      {"name": "A", "value": "$(U)"}, {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
      {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "D"}, 5, {"valueFrom": 7}],
      "volumeMounts": [{"name": "v", "subPathExpr": "$(A)"}]}],
    "volumes": [{"name": "v", "downwardAPI": {"items": [{"path": "m", "resourceFieldRef": {"resource": "limits.cpu"}}]}},
      {"name": "n", "downwardAPI": null}, {"name": "o", "projected": {"sources": [null, {"downwardAPI": {}}]}}]})_");
  const kube::Object shadow = sent(pod);
  CHECK(kube::array_at(pod_of(shadow), {"containers"}) == kube::array_at(pod.spec(), {"containers"}));
  CHECK(kube::array_at(pod_of(shadow), {"volumes"}) == kube::array_at(pod.spec(), {"volumes"}));
  CHECK(kube::array_at(kube::array_at(pod_of(shadow), {"initContainers"})[0], {"env"}) ==
        parse_value(R"([{"name": "U", "value": "u1"}])"));
}

TEST_CASE("an ephemeral container brings what it reads with it") {
  kube::Object pod = local_pod("{}", "{}", R"({"annotations": {"tekton.dev/ready": "READY"}})");
  kube::Object shadow = sent(pod);
  pod.mutable_spec()["ephemeralContainers"] = parse_value(R"([{"name": "debug", "env": [
    {"name": "R", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['tekton.dev/ready']"}}},
    {"name": "U", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]}])");
  const std::string name = read_annotation("tekton.dev/ready");
  CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
  const auto patch = plan_shadow_ephemeral(pod, shadow, context());
  REQUIRE(patch.has_value());
  CHECK(kube::string_at(*patch, {"metadata", "annotations", name}) == "READY");
  const json::array& added = kube::array_at(*patch, {"spec", "pod", "ephemeralContainers"});
  CHECK(added.at(0) == parse_value(R"({"name": "debug", "env": [
    {"name": "R", "valueFrom": {"fieldRef": {"fieldPath": ")" +
                                   path_of(name) + R"("}}}, {"name": "U", "value": "u1"}]})"));
  shadow.mutable_spec()["pod"].get_object()["ephemeralContainers"] = added;
  shadow.set_annotation(name, "READY");
  CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
  pod.set_annotation("tekton.dev/ready", "DONE");
  const auto change = plan_shadow_pod_update(pod, shadow, context());
  REQUIRE(change.has_value());
  CHECK(kube::string_at(*change, {"metadata", "annotations", name}) == "DONE");
}

TEST_CASE("what is too large to be sent is refused with the sum") {
  const auto pod_with = [](std::size_t bytes) {
    kube::Object pod = reader("metadata.annotations['tekton.dev/ready']");
    pod.set_annotation("tekton.dev/ready", std::string(bytes, 'x'));
    return pod;
  };
  const auto refused = forge_shadow_pod(pod_with(250 * 1024), "shop-rome", context());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == kube::Errc::invalid_input);
  CHECK_MESSAGE(refused.error().text().contains("the pod reads 251 KiB of its own labels and annotations, and at most "
                                                "200 KiB reach a provider"),
                refused.error().text());
  // One that grows later keeps what it has.
  const kube::Object small = pod_with(10), large = pod_with(250 * 1024);
  const kube::Object shadow = sent(small);
  CHECK(refuse_read_change(small, shadow).empty());
  CHECK(refuse_read_change(large, shadow).contains("251 KiB"));
  const auto patch = plan_shadow_pod_update(large, shadow, context());
  REQUIRE(patch.has_value());
  const json::object& changed = kube::object_at(*patch, {"metadata", "annotations"});
  CHECK_FALSE(changed.contains(read_annotation("tekton.dev/ready")));
  // There is no room for the annotation itself either.
  CHECK(changed.contains("tekton.dev/ready"));
  CHECK(changed.at("tekton.dev/ready").is_null());
}

TEST_CASE("what a pod reads is not sent twice if both have no room") {
  kube::Object pod = reader("metadata.annotations['tekton.dev/ready']");
  pod.set_annotation("tekton.dev/ready", std::string(150 * 1024, 'x'));
  pod.set_annotation("tekton.dev/other", "x");
  const kube::Object shadow = sent(pod);
  CHECK(shadow.annotation(read_annotation("tekton.dev/ready")).size() == 150 * 1024);
  CHECK_FALSE(shadow.has_annotation("tekton.dev/ready"));
  CHECK(shadow.annotation("tekton.dev/other") == "x");
  CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
}

TEST_CASE("hundreds of annotations are read") {
  kube::Object pod = local_pod();
  json::array env;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "example.org/key-" + std::to_string(i);
    pod.set_annotation(key, std::to_string(i));
    const json::object reference{{"fieldRef", json::object{{"fieldPath", path_of(key)}}}};
    env.push_back(json::object{{"name", "V" + std::to_string(i)}, {"valueFrom", reference}});
  }
  kube::ensure_array(pod.mutable_spec(), "containers")[0].get_object()["env"] = env;
  const kube::Object shadow = sent(pod);
  for (std::size_t i = 0; i < 300; ++i) {
    const json::value& entry = kube::array_at(kube::array_at(pod_of(shadow), {"containers"})[0], {"env"}).at(i);
    CHECK(resolve(shadow, *kube::find(entry, {"valueFrom"})) == std::to_string(i));
  }
  CHECK_FALSE(plan_shadow_pod_update(pod, shadow, context()).has_value());
}

}  // namespace liqo::core
