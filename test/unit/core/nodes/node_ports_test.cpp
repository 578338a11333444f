// Which virtual node has which port.
#include "core/nodes/node_ports.hpp"

#include "../objects.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using Plan = std::map<std::string, std::uint16_t>;

}  // namespace

TEST_CASE("a node keeps the port that it shows where it can, and else gets the lowest that is free") {
  struct Case {
    const char* title;
    PortRange range;
    NodePorts shown;
    Plan plan;
  };
  const Case cases[] = {
      {"none", {10250, 4}, {}, {}},
      {"the first node has the first port", {10250, 4}, {{"a", 0}}, {{"a", 10250}}},
      {"what a node shows stays", {10250, 4}, {{"a", 10252}, {"b", 10250}}, {{"a", 10252}, {"b", 10250}}},
      {"a new one takes the lowest free one",
       {10250, 4},
       {{"a", 0}, {"b", 10250}, {"c", 10252}},
       {{"a", 10251}, {"b", 10250}, {"c", 10252}}},
      {"all show the same, as before nodes had ports of their own",
       {10250, 4},
       {{"a", 10250}, {"b", 10250}, {"c", 10250}},
       {{"a", 10250}, {"b", 10251}, {"c", 10252}}},
      {"two show the same port, and a free one is below it",
       {10250, 4},
       {{"a", 10251}, {"b", 10251}},
       {{"a", 10251}, {"b", 10250}}},
      {"another range", {11000, 4}, {{"a", 10251}, {"b", 10250}}, {{"a", 11000}, {"b", 11001}}},
      {"a range that was moved by one", {10251, 4}, {{"a", 10250}, {"b", 10251}}, {{"a", 10252}, {"b", 10251}}},
      {"a range that was made smaller",
       {10250, 2},
       {{"a", 10250}, {"b", 10251}, {"c", 10252}},
       {{"a", 10250}, {"b", 10251}, {"c", 10250}}},
      {"too small: those for whom none is left share the first",
       {10250, 2},
       {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}},
       {{"a", 10250}, {"b", 10251}, {"c", 10250}, {"d", 10250}}},
      {"a port that became free goes to who shares",
       {10250, 3},
       {{"b", 10250}, {"c", 10251}, {"d", 10250}},
       {{"b", 10250}, {"c", 10251}, {"d", 10252}}},
      {"a range of one is everybody's", {10250, 1}, {{"a", 0}, {"b", 10250}}, {{"a", 10250}, {"b", 10250}}},
      {"no port at all", {10250, 2}, {{"a", -1}, {"b", 1LL << 40}}, {{"a", 10250}, {"b", 10251}}},
      {"up to the last port",
       {65534, 2},
       {{"a", 65535}, {"b", 0}, {"c", 0}},
       {{"a", 65535}, {"b", 65534}, {"c", 65534}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const Plan plan = plan_node_ports(c.range, c.shown);
    CHECK(plan == c.plan);
    // Once it stands as planned nothing changes any more.
    CHECK(plan_node_ports(c.range, NodePorts(plan.begin(), plan.end())) == plan);
  }
}

TEST_CASE("a node that shows no port of the range is at the first") {
  using At = std::map<std::uint16_t, std::set<std::string>>;
  CHECK(nodes_at_ports({10250, 3}, {{"a", 10250}, {"b", 10252}, {"c", 9999}, {"d", 0}}) ==
        At{{10250, {"a", "c", "d"}}, {10252, {"b"}}});
  CHECK(nodes_at_ports({10250, 1}, {{"a", 10250}, {"b", 10251}}) == At{{10250, {"a", "b"}}});
  CHECK(nodes_at_ports({10250, 1}, {}).empty());
}

TEST_CASE("the port of a machine is none of ours") {
  kube::Object node = parse(R"({"metadata": {"name": "milan"},
      "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 10251}}}})");
  CHECK_FALSE(shown_port(node).has_value());
  node.mutable_metadata()["labels"] = json::object{{api::labels::type, api::labels::type_virtual_node}};
  CHECK(shown_port(node) == 10251);
  node.mutable_status()["nodeInfo"] = json::object{{"machineID", "m"}};
  CHECK_FALSE(shown_port(node).has_value());
  node.mutable_status() = json::object();
  CHECK(shown_port(node) == 0);
}

}  // namespace liqo::core
