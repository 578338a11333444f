// Values, the manifests of an installation, and the YAML reader that both need.
#include <doctest/doctest.h>

#include "kube/wire/yaml.hpp"
#include "model/install.hpp"
#include "text/yaml.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

TEST_CASE("YAML is read as the tree that it says, and as it was written by us") {
  const auto read =
      kube::wire::read_yaml("a: 1\nb: \"1\"\nc: [true, null, x, 1.5]\nd: |\n  two\n  lines\n---\n---\n{e: 8Gi}\n");
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK(json::serialize(read->front()) == R"({"a":1,"b":"1","c":[true,null,"x",1.5E0],"d":"two\nlines\n"})");
  CHECK(json::serialize(read->back()) == R"({"e":"8Gi"})");
  const json::value tree = json::parse(
      R"({"s":["","yes","1","a: b"," x","-","a\nb","a\tb","é"],"n":[1,null,true],"o":{},"l":[[1,["x"]],[],{"k":[{"z":1,"a":"b"}]}]})");
  const auto again = kube::wire::read_yaml(text::yaml(tree));
  REQUIRE(again);
  CHECK(again->front() == tree);
  CHECK_FALSE(kube::wire::read_yaml("a: [1"));
  CHECK_FALSE(kube::wire::read_yaml(std::string(200, '[') + std::string(200, ']')));
}

const json::value* find(const model::Installation& made, std::string_view kind, std::string_view name) {
  for (const json::value& manifest : made.manifests)
    if (kube::string_at(manifest, {"kind"}) == kind && kube::string_at(manifest, {"metadata", "name"}) == name)
      return &manifest;
  return nullptr;
}

TEST_CASE("the CA of who may ask the webhooks is mounted where the daemon looks for it") {
  const auto pod_of = [](json::object values) {
    values["clusterID"] = "milan";
    const auto made = model::installation({}, values, "liqo", true);
    REQUIRE(made);
    CHECK(made->unknown.empty());
    const json::value* deployment = find(*made, "Deployment", "liqod");
    REQUIRE(deployment);
    return json::serialize(*kube::find(*deployment, {"spec", "template", "spec"}));
  };
  json::object values;
  REQUIRE(model::set_value(values, "webhook.clientCAConfigMap=callers"));
  const std::string pod = pod_of(values);
  CHECK(pod.contains(R"("--webhook-client-ca-file=/etc/liqo/webhook-client-ca/ca.crt")"));
  CHECK(pod.contains(
      R"("volumeMounts":[{"name":"webhook-client-ca","mountPath":"/etc/liqo/webhook-client-ca","readOnly":true}])"));
  CHECK(pod.contains(R"("volumes":[{"name":"webhook-client-ca","configMap":{"name":"callers"}}])"));
  CHECK_FALSE(pod_of({}).contains("webhook-client-ca"));
}

TEST_CASE("values are set by path, as Helm does") {
  json::object values;
  for (const char* one : {"a.b=1,a.c=x", "a.d=true", "l.app\\.kubernetes\\.io/x=y", "n=null", "q=a\\,b"})
    REQUIRE(model::set_value(values, one));
  REQUIRE(model::set_value(values, "a.e=1", true));
  CHECK(json::serialize(values) ==
        R"({"a":{"b":1,"c":"x","d":true,"e":"1"},"l":{"app.kubernetes.io/x":"y"},"n":null,"q":"a,b"})");
  for (const char* wrong : {"a", "=1", "a..b=1", "a=1,b"}) {
    CAPTURE(wrong);
    json::object scratch;
    CHECK_FALSE(model::set_value(scratch, wrong));
  }
  model::overlay(values, {{"a", json::object{{"b", 2}}}, {"q", 3}});
  CHECK(json::serialize(values) ==
        R"({"a":{"b":2,"c":"x","d":true,"e":"1"},"l":{"app.kubernetes.io/x":"y"},"n":null,"q":3})");
}

TEST_CASE("the values of the documentation become the sharing policy and flags of the daemon") {
  json::object values{{"clusterID", "milan"}, {"nonsense", json::object{{"x", 1}}}};
  for (const char* one : {"offloading.defaultNodeResources.cpu=2", "offloading.defaultNodeResources.memory=4Gi",
                          "controllerManager.config.defaultLimitsEnforcement=hard",
                          "controllerManager.config.enableResourceEnforcement=false"})
    REQUIRE(model::set_value(values, one));
  const auto role = json::parse(R"({"kind":"Role","metadata":{"name":"liqo-liqod","namespace":"liqo"},"rules":[]})");
  const auto made = model::installation({role}, values, "other", true);
  REQUIRE(made);
  CHECK(made->unknown == std::vector<std::string>{"nonsense.x"});
  const json::value* policy = find(*made, "ConfigMap", "liqo-sharing-policy");
  REQUIRE(policy);
  CHECK(
      json::serialize(policy->at("data")) ==
      R"({"default-node-resources":"cpu=2,memory=4Gi,pods=110,ephemeral-storage=20Gi","default-limits-enforcement":"Hard"})");
  const json::value* daemon = find(*made, "Deployment", "liqod");
  REQUIRE(daemon);
  const std::string text = json::serialize(*daemon);
  CHECK(text.find("--enable-resource-enforcement=false") != std::string::npos);
  CHECK(text.find("--cluster-id=milan") != std::string::npos);
  CHECK(kube::string_at(*find(*made, "Role", "liqo-liqod"), {"metadata", "namespace"}) == "other");
  CHECK(find(*made, "ClusterRoleBinding", "liqo-liqod"));
}

TEST_CASE("what cannot be installed is refused") {
  CHECK_FALSE(model::installation({}, {}, "liqo", true));
  CHECK(model::installation({}, {}, "liqo", false));
  CHECK_FALSE(model::installation({}, {{"clusterID", "Not One"}}, "liqo", true));
  for (const char* wrong : {"offloading.defaultNodeResources.cpu=much", "offloading.defaultNodeResources=4",
                            "controllerManager.config.defaultLimitsEnforcement=Strict"}) {
    CAPTURE(wrong);
    json::object values{{"clusterID", "milan"}};
    REQUIRE(model::set_value(values, wrong));
    CHECK_FALSE(model::installation({}, values, "liqo", true));
  }
}

}  // namespace
