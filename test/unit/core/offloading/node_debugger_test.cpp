// Pods by which kubectl debugs a node.
#include "core/offloading/node_debugger.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object pod(std::string_view name, std::string_view manager, std::string_view spec) {
  return local_pod("{}", spec,
                   R"({"name": ")" + std::string(name) + R"(", "labels": {"app.kubernetes.io/managed-by": ")" +
                       std::string(manager) + R"("}})");
}

}  // namespace

TEST_CASE("a pod debugs its node if kubectl made it for that and it uses the node itself") {
  struct Case {
    std::string_view title, name, manager, spec;
    bool debugs;
  };
  const std::string_view debugger = "node-debugger-milan-x7", kubectl = "kubectl-debug";
  for (const Case& c :
       {Case{"processes", debugger, kubectl, R"({"hostPID": true})", true},
        Case{"network", debugger, kubectl, R"({"hostNetwork": true})", true},
        Case{"files", debugger, kubectl, R"({"volumes": [{"name": "h", "hostPath": {"path": "/"}}]})", true},
        Case{"nothing of the node", debugger, kubectl, R"({"volumes": [{"name": "e", "emptyDir": {}}]})", false},
        Case{"made by others", debugger, "helm", R"({"hostPID": true})", false},
        Case{"of another name", "web-debug-1", kubectl, R"({"hostPID": true})", false}}) {
    CAPTURE(c.title);
    CHECK(is_node_debugger(pod(c.name, c.manager, c.spec)) == c.debugs);
  }
}

TEST_CASE("it has failed on a virtual node, with all containers, and the reason names what to debug instead") {
  const auto refused = forge_node_debugger_refusal(
      pod("node-debugger-milan-x7", "kubectl-debug", R"({"hostPID": true})"), "milan", at());
  CHECK(kube::string_at(refused.status, {"phase"}) == "Failed");
  CHECK(kube::string_at(refused.status, {"message"}) ==
        "Node milan is virtual and has no files, processes or network to look at: debug one of its pods, or a node of "
        "cluster milan");
  const json::array& containers = kube::array_at(refused.status, {"containerStatuses"});
  REQUIRE(containers.size() == 1);
  CHECK(kube::string_at(containers[0], {"name"}) == "main");
  CHECK(kube::string_at(containers[0], {"state", "terminated", "reason"}) == "OffloadingRefused");
}

}  // namespace liqo::core
