#include "core/offloading/node_label_keys.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {
using namespace testing;
using Keys = std::vector<std::string>;

kube::Object node(std::string_view labels, std::string_view spec = "{}") {
  return parse(R"({"metadata": {"name": "n", "labels": )" + std::string(labels) + R"(}, "spec": )" + std::string(spec) +
               "}");
}

}  // namespace

TEST_CASE("a key is missing if no node for consumers has it") {
  NodeLabelKeys keys;
  const Keys asked{"host", "rack", "zone"};
  // No node, and so nothing to say.
  CHECK(keys.missing(asked).empty());
  const kube::Object plain = node(R"({"host": "a"})"), zoned = node(R"({"host": "b", "zone": "z"})"),
                     lent = node(R"({"liqo.io/type": "virtual-node", "rack": "r"})"),
                     control = node(R"({"rack": "r"})", R"({"taints": [
                       {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]})");
  keys.set_node("lent", &lent);
  keys.set_node("control", &control);
  CHECK(keys.missing(asked).empty());
  keys.set_node("a", &plain);
  CHECK(keys.missing(asked) == Keys{"rack", "zone"});
  keys.set_node("b", &zoned);
  keys.set_node("c", &plain);
  CHECK(keys.missing(asked) == Keys{"rack"});
  keys.set_node("b", &plain);
  CHECK(keys.missing(asked) == Keys{"rack", "zone"});
  keys.set_node("b", &zoned);
  keys.set_node("b", &zoned);
  keys.set_node("b", nullptr);
  keys.set_node("never seen", nullptr);
  CHECK(keys.missing(asked) == Keys{"rack", "zone"});
  keys.set_node("a", &lent);
  keys.set_node("c", nullptr);
  CHECK(keys.missing(asked).empty());
}

}  // namespace liqo::core
