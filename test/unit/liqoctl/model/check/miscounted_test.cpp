#include "model/check/miscounted.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;
namespace json = kube::json;

namespace {

kube::Object object(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object machine(std::string_view name, std::string_view zone) {
  return object(R"({"metadata":{"name":")" + std::string(name) + R"(","labels":{"host":")" + std::string(name) +
                R"(","zone":")" + std::string(zone) + R"("}}})");
}
kube::Object virtual_node(std::string_view labels) {
  return object(R"({"metadata":{"name":"milan","labels":{"liqo.io/type":"virtual-node",)" + std::string(labels) +
                R"(}},"spec":{"taints":[{"key":"virtual-node.liqo.io/not-allowed","effect":"NoExecute"}]}})");
}
kube::Object workload(std::string_view ns, std::string_view key) {
  return object(R"({"metadata":{"name":"web","namespace":")" + std::string(ns) +
                R"("},"spec":{"template":{"spec":{"topologySpreadConstraints":[{"topologyKey":")" + std::string(key) +
                R"(","whenUnsatisfiable":"DoNotSchedule"}]}}}})");
}

}  // namespace

TEST_CASE("workloads are named that count a virtual node as one more place") {
  const kube::Object a = machine("rome-1", "a"), b = machine("rome-2", "b");
  const auto words = [&](const kube::Object& one, const kube::Object& node) {
    return model::miscounts_in_words({one}, {a, node, b}, {"offloaded"});
  };
  CHECK(
      words(workload("shop", "zone"), virtual_node(R"("zone":"m")")) ==
      "pods of shop/web (zone) may stay Pending: they are spread over virtual nodes, too (DoNotSchedule), and may not "
      "run there; set nodeTaintsPolicy: Honor in these constraints");
  CHECK(words(workload("shop", "host"), virtual_node(R"("host":"milan")")).contains("shop/web (host)"));
  // The virtual node is in a zone of home, or in none.
  CHECK(words(workload("shop", "zone"), virtual_node(R"("zone":"b")")).empty());
  CHECK(words(workload("shop", "zone"), virtual_node(R"("host":"milan")")).empty());
  // No machine has such a label, so that nothing is lost by the virtual node.
  CHECK(words(workload("shop", "rack"), virtual_node(R"("rack":"m")")).empty());
  CHECK(words(workload("offloaded", "zone"), virtual_node(R"("zone":"m")")).empty());
  CHECK(model::miscounts_in_words({workload("shop", "zone")}, {a, b}, {}).empty());
}
