#include "core/offloading/miscounted.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {
using namespace testing;
using Keys = std::vector<std::string>;

/// What is parsed while no test runs ends the program.
kube::Object milan() {
  return parse(R"({"metadata": {"name": "milan", "labels": {"liqo.io/type": "virtual-node",
  "host": "milan", "zone": "m"}}, "spec": {"taints": [{"key": "virtual-node.liqo.io/not-allowed", "value": "true",
  "effect": "NoExecute"}]}})");
}

Keys keys(std::string_view constraint, std::string_view more = "") {
  const std::string spec = R"({"spec": {"topologySpreadConstraints": [{"topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule")" +
                           std::string(constraint) + "}]" + std::string(more) + "}}";
  return miscounted_keys(parse_value(spec).as_object(), milan());
}

}  // namespace

TEST_CASE("a tainted node counts in what pods are spread over, unless the constraint or the pod says otherwise") {
  CHECK(keys("") == Keys{"zone"});
  CHECK(keys(R"(, "nodeTaintsPolicy": "Ignore")") == Keys{"zone"});
  CHECK(keys(R"(, "nodeTaintsPolicy": "Honor")").empty());
  CHECK(keys(R"(, "whenUnsatisfiable": "ScheduleAnyway")").empty());
  CHECK(keys(R"(, "topologyKey": "rack")").empty());
  CHECK(keys("", R"(, "tolerations": [{"operator": "Exists"}])").empty());
  // What the pod does not choose is not counted, unless the constraint says so.
  const std::string local = R"(, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
    "nodeSelectorTerms": [{"matchExpressions": [
      {"key": "liqo.io/type", "operator": "NotIn", "values": ["virtual-node"]}]}]}}})";
  CHECK(keys("", local).empty());
  CHECK(keys(R"(, "nodeAffinityPolicy": "Ignore")", local) == Keys{"zone"});
  for (const char* odd : {"{}", R"({"spec": 1})", R"({"spec": {"topologySpreadConstraints": [1, {}]}})"})
    CHECK(miscounted_keys(parse_value(odd).as_object(), milan()).empty());
}

}  // namespace liqo::core
