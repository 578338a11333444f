#include "model/install/given_values.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object object(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

const json::object defaults = json::parse(R"({"replicas":2,"image":{"repository":"","tag":""},"listenPort":10250,
    "metrics":{"secure":true},"ipam":{"podCIDRs":[]},"networking":{"reflectIPs":true},"metricAgent":{"enabled":true},
    "offloading":{"sharingPercentage":90,"defaultNodeResources":{"cpu":"4"}}})")
                                  .as_object();

}  // namespace

TEST_CASE("what an installation was given is recorded, and read as it was") {
  const json::object given = json::parse(R"({"image":{"repository":"r"},"a":[1,{"b":null}]})").as_object();
  const kube::Object of_chart = object(R"({"metadata":{"labels":{"app.kubernetes.io/part-of":"liqo","team":"a"}}})");
  const kube::Object secret = model::forge_given_values(of_chart, "liqo", given);
  CHECK(secret.key().text() == "liqo/liqo-given-values");
  CHECK(secret.labels() == of_chart.labels());
  CHECK(model::read_given_values(secret).value() == given);
  CHECK(model::paths_of(given) == std::vector<std::string>{"image.repository", "a"});
  const auto broken = model::read_given_values(object(R"({"metadata":{"name":"s","namespace":"liqo"},"data":{}})"));
  REQUIRE_FALSE(broken);
  CHECK(broken.error().text().contains("delete it, and give all values again"));
}

TEST_CASE("an installation without a record shows what differs from the defaults") {
  const kube::Object deployment = object(R"({"metadata":{"name":"liqod","labels":{"app.kubernetes.io/version":"0.1.0"}},
      "spec":{"replicas":1,"template":{"spec":{"containers":[{"image":"registry:5000/liqod:0.1.0","args":[
      "--cluster-id=rome","--listen-port=10250","--metrics-secure=false","--pod-cidr=10.2.0.0/16",
      "--pod-cidr=10.3.0.0/16","--disable-ip-reflection","--metric-agent-port=8083","--unknown=1"]}]}}}})");
  const kube::Object policy = object(R"({"data":{"sharing-percentage":"50","default-node-resources":"cpu=8,memory=1Gi",
      "enable-storage":"false"}})");
  json::object with_storage = defaults;
  with_storage["storage"] = json::object{{"enabled", false}};
  with_storage["metricAgent"].as_object()["port"] = 8083;
  CHECK(model::shown_values(&deployment, &policy, with_storage) ==
        json::parse(R"({"image":{"repository":"registry:5000/liqod"},"replicas":1,"metrics":{"secure":false},
            "ipam":{"podCIDRs":["10.2.0.0/16","10.3.0.0/16"]},"networking":{"reflectIPs":false},
            "offloading":{"sharingPercentage":50,"defaultNodeResources":{"cpu":"8","memory":"1Gi"}}})")
            .as_object());
  CHECK(model::shown_values(nullptr, nullptr, defaults).empty());
  // What holds for a reflected kind is found by the table of kinds.
  const kube::Object reflecting =
      object(R"({"spec":{"template":{"spec":{"containers":[{"args":["--metric-agent-port=8083",
      "--configmap-reflection-workers=8","--configmap-reflection-type=AllowList","--secret-reflection-workers=32",
      "--endpointslice-reflection-workers=0","--gadget-reflection-workers=1"]}]}}}})");
  json::object with_kinds = with_storage;
  with_kinds["offloading"].as_object()["reflection"] = json::parse(R"({"secret":{"workers":32}})");
  CHECK(model::shown_values(&reflecting, nullptr, with_kinds) ==
        json::parse(R"({"offloading":{"reflection":{"configmap":{"workers":8,"type":"AllowList"},
            "endpointslice":{"workers":0}}}})")
            .as_object());
  // A tag that is not the chart's was given by the user.
  const kube::Object tagged =
      object(R"({"metadata":{"labels":{"app.kubernetes.io/version":"0.1.0"}},"spec":{"template":{
      "spec":{"containers":[{"image":"liqod:mine","args":["--metric-agent-port=8083"]}]}}}})");
  CHECK(model::shown_values(&tagged, nullptr, with_storage) ==
        json::parse(R"({"image":{"repository":"liqod","tag":"mine"}})").as_object());
}
