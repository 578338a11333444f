#include "model/check/topology_hints.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object object(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object node(std::string_view name, std::string_view labels, std::string_view cpu,
                  std::string_view ready = "True") {
  return object(R"({"metadata":{"name":")" + std::string(name) + R"(","labels":)" + std::string(labels) +
                R"(},"status":{"allocatable":{"cpu":")" + std::string(cpu) +
                R"("},"conditions":[{"type":"Ready","status":")" + std::string(ready) + R"("}]}})");
}
kube::Object service(std::string_view name, std::string_view annotations) {
  return object(R"({"metadata":{"namespace":"shop","name":")" + std::string(name) + R"(","annotations":)" +
                std::string(annotations) + "}}");
}

constexpr std::string_view placed = R"({"topology.kubernetes.io/zone":"a"})", bare = "{}",
                           lent = R"({"liqo.io/type":"virtual-node"})",
                           lent_placed = R"({"liqo.io/type":"virtual-node","topology.kubernetes.io/zone":"m"})";
const kube::Object machine = node("rome-1", placed, "4"),
                   automatic = service("web", R"({"service.kubernetes.io/topology-mode":"Auto"})");

std::string words(const std::vector<kube::Object>& nodes, const std::vector<kube::Object>& services = {automatic}) {
  return model::lost_hints_in_words(model::hintless_nodes(nodes), services);
}

}  // namespace

TEST_CASE("Services lose their hints by a virtual node without zone or cpu, and it is said what to do") {
  const kube::Object milan = node("milan", lent, "8"), turin = node("turin", lent_placed, "0");
  CHECK(words({machine, milan}) ==
        "Services with topology-mode Auto (shop/web) get no hints, because virtual node milan has no zone: set one for "
        "all of them by liqod's --node-extra-labels topology.kubernetes.io/zone=ZONE (value "
        "virtualKubelet.virtualNode.extra.labels), or for one in spec.labels of its VirtualNode");
  CHECK(words({turin, machine}) ==
        "Services with topology-mode Auto (shop/web) get no hints, because virtual node turin has no cpu: ask its "
        "provider for some, or set spec.createNode: false in its VirtualNode");
  const std::string both = words({machine, milan, turin});
  CHECK(both.contains("virtual node milan has no zone"));
  CHECK(both.contains("; and because virtual node turin has no cpu"));
}

TEST_CASE("nothing is said where virtual nodes take no hints away") {
  const kube::Object milan = node("milan", lent, "8");
  // All nodes have what it takes.
  CHECK(words({machine, node("milan", lent_placed, "8")}) == "");
  // Kubernetes passes over nodes that are not Ready, and over the control plane.
  CHECK(words({machine, node("milan", lent, "8", "False")}) == "");
  CHECK(words({machine, node("master", R"({"node-role.kubernetes.io/control-plane":""})", "4"), milan}) != "");
  // A machine without a zone takes them away as well.
  CHECK(words({node("rome-1", bare, "4"), milan}) == "");
  CHECK(words({machine, milan}, {}) == "");
  for (const auto& [annotations, wanted] :
       {std::pair{R"({})", false}, std::pair{R"({"service.kubernetes.io/topology-mode":"Disabled"})", false},
        std::pair{R"({"service.kubernetes.io/topology-mode":"auto"})", true},
        std::pair{R"({"service.kubernetes.io/topology-aware-hints":"Auto"})", true},
        std::pair{R"({"service.kubernetes.io/topology-aware-hints":"disabled",
                      "service.kubernetes.io/topology-mode":"Auto"})",
                  false}}) {
    CAPTURE(annotations);
    CHECK(model::wants_hints(service("web", annotations)) == wanted);
  }
}
