// Forging the ShadowPod of a pod that is first sent.
#include "core/offloading/shadow_pod.hpp"

#include "../objects.hpp"
#include "core/common/meta.hpp"
#include "core/offloading/service_account_token.hpp"

namespace liqo::core {
namespace {

using namespace testing;

ForgedShadowPod forge(const kube::Object& local, const ForgingContext& ctx = context()) {
  auto forged = forge_shadow_pod(local, "shop-rome", ctx);
  REQUIRE(forged.has_value());
  return std::move(*forged);
}
json::object pod_spec(const kube::Object& local, const ForgingContext& ctx = context()) {
  return kube::object_at(forge(local, ctx).shadow.spec(), {"pod"});
}
json::object spec_with(std::string_view spec, const ForgingContext& ctx = context(), std::string_view metadata = "{}") {
  return pod_spec(local_pod("{}", spec, metadata), ctx);
}

const char* const service_account_volumes = R"({"serviceAccountName": "robot", "volumes": [
  {"name": "plain", "configMap": {"name": "kube-root-ca.crt"}}, {"name": "none", "projected": {}},
  {"name": "kube-api-access-foo", "projected": {"defaultMode": 420, "sources": [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": []}}]}},
  {"name": "custom-bar", "projected": {"sources": [{"serviceAccountToken": {"path": "other"}}]}}]})";

const json::array& sources(const json::object& spec, std::size_t volume) {
  return kube::array_at(kube::array_at(spec, {"volumes"}).at(volume), {"projected", "sources"});
}

}  // namespace

TEST_CASE("labels and annotations travel, marked, without those of home") {
  ForgingContext ctx = context();
  ctx.patch.labels_not_reflected = {"secret-label"};
  ctx.patch.annotations_not_reflected = {"secret-note"};
  const auto shadow = forge(local_pod("{}", "{}", R"({"labels": {"app": "web", "liqo.io/shadowPod": "true",
      "liqo.io/remote-unavailable": "true", "liqo.io/creator-user": "me", "secret-label": "x"},
      "annotations": {"note": "hello", "secret-note": "x", "offloading.liqo.io/remote-pod-uid": "r1",
      "kubectl.kubernetes.io/last-applied-configuration": "{}"}})"),
                            ctx)
                          .shadow;
  CHECK(shadow.key() == kube::ObjectKey{"shop-rome", "web"});
  CHECK(shadow.api_version() == "offloading.liqo.io/v1beta1");
  CHECK(shadow.kind() == "ShadowPod");
  CHECK(shadow.labels() == parse_value(R"({"app": "web", "offloading.liqo.io/origin": "local-cluster",
    "offloading.liqo.io/destination": "remote-cluster", "offloading.liqo.io/nodename": "milan"})")
                               .get_object());
  CHECK(shadow.annotations() == parse_value(R"({"note": "hello", "offloading.liqo.io/local-pod-uid": "u1",
    "offloading.liqo.io/reflected-keys": "app;note"})")
                                    .get_object());
  CHECK_FALSE(shadow.metadata().contains("ownerReferences"));
  CHECK_FALSE(shadow.metadata().contains("finalizers"));
}

TEST_CASE("an object is ours only with both labels of this pair") {
  const ClusterPair pair{"local-cluster", "remote-cluster"};
  kube::Object object = reflected("Pod", "r1", "u1");
  CHECK(is_reflected(object, pair));
  object.set_label("offloading.liqo.io/destination", "another");
  CHECK_FALSE(is_reflected(object, pair));
  object.mutable_metadata()["labels"].as_object().erase("offloading.liqo.io/destination");
  CHECK_FALSE(is_reflected(object, pair));
  CHECK_FALSE(is_reflected(parse(R"({"metadata": {"name": "x"}})"), ClusterPair{"", ""}));
}

TEST_CASE("fields travel verbatim, or not at all, or forced") {
  const auto spec = spec_with(R"({"nodeName": "milan", "schedulerName": "default-scheduler", "priority": 0,
    "dnsPolicy": "ClusterFirst", "hostname": "h", "subdomain": "s", "terminationGracePeriodSeconds": 5,
    "activeDeadlineSeconds": 60, "enableServiceLinks": true, "imagePullSecrets": [{"name": "pull"}],
    "securityContext": {"runAsUser": 5}, "shareProcessNamespace": true, "setHostnameAsFQDN": false,
    "topologySpreadConstraints": [{"maxSkew": 1}], "hostAliases": [{"ip": "1.1.1.1", "hostnames": ["a"]}],
    "dnsConfig": {"nameservers": ["9.9.9.9"]}, "nodeSelector": {"disk": "ssd"}, "affinity": {"nodeAffinity": {}},
    "serviceAccountName": "robot", "serviceAccount": "robot", "automountServiceAccountToken": true,
    "readinessGates": [{"conditionType": "x"}], "preemptionPolicy": "PreemptLowerPriority", "hostNetwork": false})");
  CHECK(spec == parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}], "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst", "hostname": "h", "subdomain": "s", "terminationGracePeriodSeconds": 5,
    "activeDeadlineSeconds": 60, "enableServiceLinks": true, "imagePullSecrets": [{"name": "pull"}],
    "securityContext": {"runAsUser": 5}, "shareProcessNamespace": true, "setHostnameAsFQDN": false,
    "topologySpreadConstraints": [{"maxSkew": 1}], "hostAliases": [{"ip": "1.1.1.1", "hostnames": ["a"]}],
    "dnsConfig": {"nameservers": ["9.9.9.9"]}, "automountServiceAccountToken": false})")
                    .get_object());
}

TEST_CASE("fields of newer pods travel, and of the priority class only its name, beside the spec") {
  for (const char* const field :
       {R"("hostUsers": false)", R"("resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}})",
        R"("resourceClaims": [{"name": "gpu", "resourceClaimName": "one"}])",
        R"("volumes": [{"name": "v", "image": {"reference": "docker.io/x/y:1", "pullPolicy": "IfNotPresent"}}])",
        R"("initContainers": [{"name": "proxy", "image": "i", "restartPolicy": "Always",
           "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]}])",
        R"("volumes": [{"name": "v", "emptyDir": {"mode": 448}},
           {"name": "s", "secret": {"secretName": "s", "defaultUser": 5, "items": [{"key": "k", "path": "p", "user": 6}]}}])",
        R"("containers": [{"name": "main", "image": "i", "livenessProbe": {"grpc": {"port": 1, "mode": "TLS"}},
           "volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}])"}) {
    const std::string spec = "{" + std::string(field) + "}";
    CAPTURE(spec);
    const auto forged = forge(local_pod("{}", spec));
    CHECK(forged.dropped_fields.empty());
    for (const auto& [name, value] : parse_value(spec).get_object())
      CHECK(pod_spec(local_pod("{}", spec)).at(name) == value);
  }
  const auto high = local_pod("{}", R"({"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "Never"})",
                              R"({"annotations": {"offloading.liqo.io/priority-class-name": "a lie"}})");
  const auto forged = forge(high);
  CHECK(forged.shadow.annotation("offloading.liqo.io/priority-class-name") == "high");
  CHECK(forged.dropped_fields.empty());
  for (const char* const field : {"priorityClassName", "priority", "preemptionPolicy"})
    CHECK_FALSE(pod_spec(high).contains(field));
  const auto lying = local_pod("{}", "{}", R"({"annotations": {"offloading.liqo.io/priority-class-name": "a lie"}})");
  CHECK_FALSE(forge(lying).shadow.has_annotation("offloading.liqo.io/priority-class-name"));
}

TEST_CASE("label keys that home has merged into a selector do not travel, for the provider would merge them again") {
  const auto spec = spec_with(R"({"topologySpreadConstraints": [
      {"maxSkew": 1, "matchLabelKeys": ["pod-template-hash"], "labelSelector": {"matchLabels": {"app": "web"},
       "matchExpressions": [{"key": "pod-template-hash", "operator": "In", "values": ["1"]}]}},
      {"maxSkew": 2, "matchLabelKeys": ["pod-template-hash"], "labelSelector": {"matchLabels": {"app": "web"}}}],
    "affinity": {"podAntiAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "matchLabelKeys": ["one", "two"],
        "labelSelector": {"matchExpressions": [{"key": "one", "operator": "In", "values": ["1"]}]}}],
      "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone",
        "mismatchLabelKeys": ["one"],
        "labelSelector": {"matchExpressions": [{"key": "one", "operator": "NotIn", "values": ["1"]}]}}}]}}})",
                              context(), R"({"annotations": {"liqo.io/anti-affinity-preset": "propagate"}})");
  const json::array& constraints = kube::array_at(spec, {"topologySpreadConstraints"});
  CHECK_FALSE(constraints.at(0).as_object().contains("matchLabelKeys"));
  CHECK(kube::array_at(constraints.at(0), {"labelSelector", "matchExpressions"}).size() == 1);
  // A home that is older than the merging leaves that to the provider.
  CHECK(json::serialize(constraints.at(1).at("matchLabelKeys")) == R"(["pod-template-hash"])");
  const json::object& apart = kube::object_at(spec, {"affinity", "podAntiAffinity"});
  CHECK(json::serialize(
            kube::array_at(apart, {"requiredDuringSchedulingIgnoredDuringExecution"}).at(0).at("matchLabelKeys")) ==
        R"(["two"])");
  CHECK_FALSE(kube::array_at(apart, {"preferredDuringSchedulingIgnoredDuringExecution"})
                  .at(0)
                  .at("podAffinityTerm")
                  .as_object()
                  .contains("mismatchLabelKeys"));
}

TEST_CASE("host ports go with the host network, and what is lost is listed") {
  const char* const ports =
      R"("containers": [{"name": "main", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}])";
  auto forged = forge(local_pod(
      "{}", "{\"hostNetwork\": true, \"hostPID\": true, \"os\": {\"name\": \"linux\"}, " + std::string(ports) + "}"));
  CHECK(forged.dropped_fields == std::vector<std::string>{"hostNetwork", "hostPID", "hostPort", "os"});
  CHECK(forged.foreign_fields.empty());
  CHECK(forged.shadow.text().find("hostPort") == std::string::npos);
  forged = forge(local_pod("{}", "{" + std::string(ports) + "}"));
  CHECK(forged.dropped_fields.empty());
  CHECK(forged.shadow.text().find("hostPort") != std::string::npos);
}

TEST_CASE("a port of a node of home is reported, and stays as narrow as it is") {
  struct Case {
    const char* port;
    bool is_told;
  };
  for (const Case& c : {
           Case{R"({"containerPort": 80, "hostPort": 80, "hostIP": "192.0.2.1"})", true},
           Case{R"({"containerPort": 80, "hostPort": 80, "hostIP": "127.0.0.1"})", false},
           Case{R"({"containerPort": 80, "hostPort": 80, "hostIP": "0.0.0.0"})", false},
           Case{R"({"containerPort": 80, "hostPort": 80, "hostIP": "::"})", false},
           Case{R"({"containerPort": 80, "hostIP": "192.0.2.1"})", false},
       }) {
    CAPTURE(c.port);
    const auto forged = forge(
        local_pod("{}", R"({"containers": [{"name": "main", "image": "i", "ports": [)" + std::string(c.port) + "]}]}"));
    CHECK(forged.dropped_fields ==
          (c.is_told ? std::vector<std::string>{"hostPort with a hostIP of home"} : std::vector<std::string>()));
    CHECK(forged.shadow.text().contains("hostIP"));
  }
}

TEST_CASE("the taint of virtual nodes is not tolerated remotely") {
  ForgingContext ctx = context();
  const char* const tolerations = R"({"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"},
    {"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"}]})";
  CHECK(json::serialize(spec_with(tolerations, ctx).at("tolerations")) ==
        R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists"}])");
  ctx.patch.tolerations = parse_value(R"([{"key": "pool", "operator": "Exists"}])").get_array();
  CHECK(spec_with(tolerations, ctx).at("tolerations").as_array().size() == 2);
}

TEST_CASE("a pod that tolerates everything is kept off the provider's virtual nodes") {
  ForgingContext ctx = context();
  const char* const everything = R"({"tolerations": [{"operator": "Exists"}]})";
  const char* const exclusion =
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"liqo.io/type","operator":"NotIn","values":["virtual-node"]}]}]})";
  CHECK(json::serialize(*kube::find(spec_with(everything, ctx),
                                    {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"})) ==
        exclusion);
  ctx.patch.node_affinity = parse_value(R"({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}, {"matchFields": []}]}})")
                                .get_object();
  const auto spec = spec_with(everything, ctx);
  const json::array& terms = kube::array_at(
      spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  REQUIRE(terms.size() == 2);
  CHECK(kube::array_at(terms[0], {"matchExpressions"}).size() == 2);
  // A term without requirements selects no node, and would with this one.
  CHECK(kube::array_at(terms[1], {"matchExpressions"}).empty());
}

TEST_CASE("anti-affinity presets select siblings and keep the node affinity of the patch") {
  ForgingContext ctx = context();
  ctx.patch.node_affinity = parse_value(R"({"preferredDuringSchedulingIgnoredDuringExecution": []})").get_object();
  const char* const labels = R"("labels": {"app": "web", "pod-template-hash": "1", "controller-revision-hash": "2",
    "statefulset.kubernetes.io/pod-name": "web-0", "apps.kubernetes.io/pod-index": "0",
    "batch.kubernetes.io/job-completion-index": "0", "key2": "b", "key3": "c"})";
  const auto affinity = [&](std::string_view annotations) {
    const std::string metadata = "{" + std::string(labels) + R"(, "annotations": )" + std::string(annotations) + "}";
    const auto spec =
        spec_with(R"({"affinity": {"podAntiAffinity": {"local": []}, "nodeAffinity": {"x": 1}}})", ctx, metadata);
    return json::object(kube::object_at(spec, {"affinity"}));
  };
  auto made = affinity(R"({"liqo.io/anti-affinity-preset": "hard"})");
  CHECK(made.contains("nodeAffinity"));
  const json::array& terms =
      kube::array_at(made, {"podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  REQUIRE(terms.size() == 1);
  CHECK(kube::string_at(terms[0], {"topologyKey"}) == "kubernetes.io/hostname");
  CHECK(kube::object_at(terms[0], {"labelSelector", "matchLabels"}) ==
        parse_value(R"({"app": "web", "key2": "b", "key3": "c",
    "offloading.liqo.io/origin": "local-cluster", "offloading.liqo.io/destination": "remote-cluster"})")
            .get_object());
  made = affinity(R"({"liqo.io/anti-affinity-preset": "soft", "liqo.io/anti-affinity-labels": "key2, key3"})");
  const json::array& soft =
      kube::array_at(made, {"podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution"});
  REQUIRE(soft.size() == 1);
  CHECK(kube::int_at(soft[0], {"weight"}) == 1);
  CHECK(json::serialize(kube::object_at(soft[0], {"podAffinityTerm", "labelSelector", "matchLabels"})) ==
        R"({"key2":"b","key3":"c"})");
  CHECK(
      affinity(R"({"liqo.io/anti-affinity-preset": "propagate"})").at("podAntiAffinity").as_object().contains("local"));
  CHECK_FALSE(affinity(R"({"liqo.io/anti-affinity-preset": "loud"})").contains("podAntiAffinity"));
  CHECK_FALSE(affinity(R"({"liqo.io/anti-affinity-preset": "hard", "liqo.io/anti-affinity-labels": "nothing"})")
                  .contains("podAntiAffinity"));
}

TEST_CASE("the runtime class is the annotation's, the pod's, or the patch's, and never that of Liqo") {
  ForgingContext ctx = context();
  const auto class_of = [&](std::string_view spec, std::string_view metadata = "{}") {
    return std::string(kube::string_at(spec_with(spec, ctx, metadata), {"runtimeClassName"}));
  };
  CHECK(class_of("{}") == "");
  CHECK(class_of(R"({"runtimeClassName": "liqo"})") == "");
  ctx.patch.runtime_class = "patched";
  CHECK(class_of("{}") == "patched");
  CHECK(class_of(R"({"runtimeClassName": "liqo"})") == "patched");
  CHECK(class_of(R"({"runtimeClassName": "kata"})") == "kata");
  CHECK(class_of(R"({"runtimeClassName": "kata"})",
                 R"({"annotations": {"liqo.io/remote-runtime-class-name": "asked"}})") == "asked");
  ctx.patch.runtime_class = "liqo";
  CHECK(class_of("{}") == "");
}

TEST_CASE("service-account volumes follow the way to the API server") {
  ForgingContext ctx = context();
  auto spec = spec_with(service_account_volumes, ctx);
  CHECK(sources(spec, 2).size() == 2);
  CHECK(kube::string_at(sources(spec, 2)[0], {"configMap", "name"}) == "kube-root-ca.crt.local");
  CHECK(sources(spec, 3).empty());
  CHECK(kube::string_at(kube::array_at(spec, {"volumes"})[0], {"configMap", "name"}) == "kube-root-ca.crt");
  CHECK_FALSE(spec.contains("serviceAccountName"));
  CHECK_FALSE(kube::bool_at(spec, {"automountServiceAccountToken"}, true));

  ctx.api_server_mode = ApiServerMode::always;
  spec = spec_with(service_account_volumes, ctx);
  REQUIRE(sources(spec, 2).size() == 3);
  CHECK(json::serialize(sources(spec, 2)[0]) ==
        R"({"secret":{"name":"web-token","items":[{"key":"kube-api-access-foo-3c469e","path":"token"}]}})");
  CHECK(kube::string_at(sources(spec, 2)[1], {"configMap", "name"}) == "kube-root-ca.crt.local");
  CHECK(sources(spec, 3).size() == 1);
  // A pod that talks to home's API server has home's CA wherever it takes it from.
  CHECK(kube::string_at(kube::array_at(spec, {"volumes"})[0], {"configMap", "name"}) == "kube-root-ca.crt.local");

  spec = spec_with(service_account_volumes, ctx, R"({"annotations": {"liqo.io/api-server-support": "disabled"}})");
  CHECK(sources(spec, 3).empty());
  CHECK_FALSE(kube::find(kube::array_at(spec, {"containers"})[0], {"env"}));

  spec = spec_with(service_account_volumes, context(), R"({"annotations": {"liqo.io/api-server-support": "remote"}})");
  CHECK(kube::find(sources(spec, 2)[0], {"serviceAccountToken"}));
  CHECK(kube::string_at(sources(spec, 2)[1], {"configMap", "name"}) == "kube-root-ca.crt");
  CHECK(kube::bool_at(spec, {"automountServiceAccountToken"}));
  CHECK(kube::string_at(spec, {"serviceAccountName"}) == "robot");
  spec = spec_with(service_account_volumes, context(), R"({"annotations": {"liqo.io/api-server-support": "remote",
    "liqo.io/remote-service-account-name": "there"}})");
  CHECK(kube::string_at(spec, {"serviceAccountName"}) == "there");
}

TEST_CASE("tokens are for pods that need them, where the API server of home has an address") {
  struct Case {
    const char *title, *metadata, *account;
    ApiServerSupport gets;
    bool is_told;  ///< reported if no address is known
  };
  constexpr auto disabled = ApiServerSupport::disabled, token_api = ApiServerSupport::token_api,
                 remote = ApiServerSupport::remote;
  for (const Case& c : {
           Case{"the account that every pod has", "{}", "default", disabled, false},
           Case{"none is named", "{}", "", disabled, false},
           Case{"an account of its own", "{}", "robot", token_api, true},
           Case{"asked for", R"({"annotations": {"liqo.io/api-server-support": "home"}})", "default", token_api, true},
           Case{"refused", R"({"annotations": {"liqo.io/api-server-support": "disabled"}})", "robot", disabled, false},
           Case{"that of there", R"({"annotations": {"liqo.io/api-server-support": "remote"}})", "robot", remote,
                false},
           Case{"another word", R"({"annotations": {"liqo.io/api-server-support": "x"}})", "default", disabled, false},
       }) {
    CAPTURE(c.title);
    const kube::Object pod = local_pod("{}", R"({"serviceAccountName": ")" + std::string(c.account) + R"(", "volumes": [
          {"name": "kube-api-access-x", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]})",
                                       c.metadata);
    ForgingContext ctx = context();
    ctx.api_server_mode = ApiServerMode::needed;
    // Nobody can use a token there: none is given away.
    CHECK(api_server_support_of(pod, ctx) == (c.gets == token_api ? disabled : c.gets));
    CHECK(api_server_trouble(pod, ctx, false).contains("this one has no token") == c.is_told);
    CHECK(api_server_trouble(pod, ctx, true).empty());
    ctx.api_server_mode = ApiServerMode::always;
    CHECK(api_server_trouble(pod, ctx, false).contains("asks kubernetes.default") ==
          (api_server_support_of(pod, ctx) == token_api));
    ctx.api_server_host = "10.0.0.1";
    CHECK(api_server_trouble(pod, ctx, false).empty());
    CHECK(mounted_tokens(forge_shadow_pod(pod, "shop-rome", ctx)->shadow).empty() ==
          (api_server_support_of(pod, ctx) != token_api));
    ctx.api_server_mode = ApiServerMode::needed;
    CHECK(api_server_support_of(pod, ctx) == c.gets);
    CHECK(api_server_trouble(pod, ctx, false).empty());
    ctx.api_server_mode = ApiServerMode::never;
    CHECK(api_server_support_of(pod, ctx) == (c.gets == remote ? remote : disabled));
  }
}

TEST_CASE("containers are told the address of the home API server") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  ctx.kubernetes_service_port = "8443";
  const char* const containers =
      R"({"serviceAccountName": "robot", "initContainers": [{"name": "init"}], "containers": [{"name": "main", "env": [
    {"name": "PLAIN", "value": "x"}, {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "SA", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}}]}]})";
  auto spec = spec_with(containers, ctx);
  const json::array& env = kube::array_at(kube::array_at(spec, {"containers"})[0], {"env"});
  REQUIRE(env.size() == 11);
  CHECK(json::serialize(env[2]) == R"({"name":"NODE","value":"milan"})");
  CHECK(json::serialize(env[3]) == R"({"name":"SA","value":"robot"})");
  const auto value = [&](std::string_view name) {
    for (const json::value& entry : kube::array_at(kube::array_at(spec, {"initContainers"})[0], {"env"}))
      if (kube::string_at(entry, {"name"}) == name) return std::string(kube::string_at(entry, {"value"}));
    return std::string("(none)");
  };
  CHECK(value("KUBERNETES_SERVICE_HOST") == "kubernetes.default");
  CHECK(value("KUBERNETES_SERVICE_PORT") == "8443");
  CHECK(value("KUBERNETES_PORT") == "tcp://kubernetes.default:8443");
  CHECK(value("KUBERNETES_PORT_8443_TCP") == "tcp://kubernetes.default:8443");
  CHECK(value("KUBERNETES_PORT_8443_TCP_PROTO") == "tcp");
  CHECK(value("KUBERNETES_PORT_8443_TCP_ADDR") == "kubernetes.default");
  CHECK(value("KUBERNETES_PORT_8443_TCP_PORT") == "8443");

  ctx.api_server_host = "fd00::1";
  ctx.api_server_port = "6443";
  spec = spec_with(containers, ctx);
  CHECK(value("KUBERNETES_SERVICE_HOST") == "fd00::1");
  CHECK(value("KUBERNETES_PORT_6443_TCP") == "tcp://[fd00::1]:6443");
  ctx.api_server_port = "";
  spec = spec_with(containers, ctx);
  CHECK(value("KUBERNETES_PORT") == "tcp://[fd00::1]:8443");
}

TEST_CASE("the home API server is named in the host aliases unless its host is given") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  ctx.api_server_ips = {"10.70.0.1", "10.70.0.2"};
  const char* const aliases =
      R"({"hostAliases": [{"ip": "1.1.1.1", "hostnames": ["a"]}, {"ip": "2.2.2.2", "hostnames": ["b"]}]})";
  const auto spec = spec_with(aliases, ctx);
  const json::array& made = kube::array_at(spec, {"hostAliases"});
  REQUIRE(made.size() == 4);
  CHECK(json::serialize(made[3]) == R"({"ip":"10.70.0.2","hostnames":["kubernetes.default","kubernetes.default.svc",)"
                                    R"("kubernetes.default.svc.cluster.local"]})");
  ctx.api_server_port = "6443";
  CHECK(kube::array_at(spec_with(aliases, ctx), {"hostAliases"}).size() == 4);
  ctx.api_server_host = "api.example.com";
  CHECK(kube::array_at(spec_with(aliases, ctx), {"hostAliases"}).size() == 2);
}

TEST_CASE("a pod of namespace default finds home's API server by the shortest name") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  ctx.api_server_ips = {"10.70.0.1"};
  kube::Object pod = local_pod("{}", "{}");
  pod.mutable_metadata()["namespace"] = "default";
  const json::object spec = pod_spec(pod, ctx);
  const json::array& names = kube::array_at(kube::array_at(spec, {"hostAliases"}).at(0), {"hostnames"});
  REQUIRE(names.size() == 4);
  CHECK(names[3] == json::value("kubernetes"));
}

TEST_CASE("the name of the API server's Service leads to the host that was given, if an alias can") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::needed;
  struct Case {
    const char *host, *port, *asked;
    bool is_aliased, is_told;
  };
  for (const Case& c : {
           Case{"192.0.2.7", "", "https://kubernetes.default.svc", true, false},
           Case{"192.0.2.7", "443", "kubernetes.default.svc.cluster.local:443", true, false},
           Case{"fd00::7", "", "https://kubernetes.default.svc", true, false},
           // An older provider would map the address of an alias with this name.
           Case{"192.0.2.7", "", "https://kubernetes.default", true, true},
           Case{"192.0.2.7", "6443", "https://kubernetes.default.svc", false, true},
           Case{"api.example.com", "", "https://kubernetes.default.svc", false, true},
           Case{"api.example.com", "6443", "--verbose", false, false},
       }) {
    CAPTURE(c.host);
    CAPTURE(c.asked);
    ctx.api_server_host = c.host;
    ctx.api_server_port = c.port;
    for (const std::string& words : {R"("args": ["--server", ")" + std::string(c.asked) + "\"]",
                                     R"("env": [{"name": "SERVER", "value": ")" + std::string(c.asked) + "\"}]"}) {
      const kube::Object pod = local_pod("{}", R"({"serviceAccountName": "robot", "containers": [{"name": "main", )" +
                                                   words + R"(}], "volumes": [{"name": "kube-api-access-x",
          "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]})");
      const json::object spec = pod_spec(pod, ctx);
      CHECK(json::serialize(kube::array_at(spec, {"hostAliases"})) ==
            (c.is_aliased ? R"([{"ip":")" + std::string(c.host) +
                                R"(","hostnames":["kubernetes.default.svc","kubernetes.default.svc.cluster.local"]}])"
                          : "[]"));
      CHECK(api_server_trouble(pod, ctx, true).contains("which refuses its token of cluster") == c.is_told);
      CHECK(api_server_trouble(pod, ctx, false).empty());
      kube::Object remote = pod;
      remote.set_annotation("liqo.io/api-server-support", "remote");
      CHECK_FALSE(pod_spec(remote, ctx).contains("hostAliases"));
      CHECK(api_server_trouble(remote, ctx, true).empty());
    }
  }
}

TEST_CASE("a name of the API server in NO_PROXY is none that the pod asks for") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::needed;
  ctx.api_server_host = "api.example.com";
  const auto is_told = [&](std::string_view variable) {
    const kube::Object pod = local_pod("{}", R"({"serviceAccountName": "robot", "containers": [{"name": "main",
      "env": [{"name": ")" + std::string(variable) +
                                                 R"(", "value": ".svc,kubernetes.default"}]}]})");
    return !api_server_trouble(pod, ctx, true).empty();
  };
  CHECK_FALSE(is_told("NO_PROXY"));
  CHECK_FALSE(is_told("no_proxy"));
  CHECK(is_told("SERVER"));
}

TEST_CASE("a pod that cannot be offloaded says why") {
  ForgingContext ctx = context();
  ctx.node_name = std::string(64, 'n');
  CHECK_FALSE(forge_shadow_pod(local_pod(), "x", ctx).has_value());
  CHECK_FALSE(forge_shadow_pod(local_pod("{}", R"({"containers": []})"), "x", context()).has_value());
  CHECK_FALSE(forge_shadow_pod(parse(R"({"metadata": {"name": "x"}})"), "x", context()).has_value());
}

TEST_CASE("specs of the wrong form throw nothing") {
  ForgingContext ctx = context();
  ctx.api_server_mode = ApiServerMode::always;
  ctx.api_server_ips = {"1.1.1.1"};
  (void)spec_with(
      R"({"containers": [1, {"env": 3, "ports": {}}, {"env": [null, {"valueFrom": 1}]}], "initContainers": "x",
    "volumes": [null, {"projected": 3}, {"projected": {"sources": [1, {"serviceAccountToken": null}, {"configMap": "x"}]}}],
    "tolerations": [1], "hostAliases": 5, "affinity": 1, "hostNetwork": true})",
      ctx, R"({"labels": {"a": 1}, "annotations": {"liqo.io/anti-affinity-preset": "hard", "b": []}})");
}

}  // namespace liqo::core
