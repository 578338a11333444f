#include "core/offloading/left_out.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {
using namespace testing;
using Texts = std::vector<std::string>;

TEST_CASE("what a provider leaves out is read as it was written") {
  const Texts things{"annotation a.b/c", "toleration of every taint"};
  CHECK(forge_left_out({}) == "");
  CHECK(forge_left_out(things) == R"(["annotation a.b/c","toleration of every taint"])");
  CHECK(read_left_out(forge_left_out(things)) == things);
  CHECK(describe_left_out(things, "milan") ==
        "cluster milan runs the pod without: annotation a.b/c, toleration of every taint; its administrator can allow "
        "them in the policy of this cluster");
}

TEST_CASE("fields that a server has dropped are told apart from what its administrator could allow") {
  const Texts fields{left_out_field("hostUsers"), left_out_field("resources")};
  CHECK(
      describe_left_out(fields, "milan") ==
      "cluster milan runs the pod without: field hostUsers, field resources; its API server did not store the fields, "
      "as with an older Kubernetes, a feature that is off or a webhook there");
  const std::string both = describe_left_out(Texts{"annotation a.b/c", left_out_field("hostUsers")}, "milan");
  CHECK(both.starts_with("cluster milan runs the pod without: annotation a.b/c, field hostUsers; its API server did"));
  CHECK(both.ends_with("; its administrator can allow what is no field in the policy of this cluster"));
}

TEST_CASE("names that a pod does not look up are nothing that an administrator could allow") {
  const std::string names = left_out_names();
  CHECK(names.size() <= max_left_out_text);
  CHECK(describe_left_out(Texts{names}, "milan") == "cluster milan runs the pod without: " + names);
  CHECK(describe_left_out(Texts{"annotation a.b/c", names}, "milan")
            .ends_with("; its administrator can allow the rest in the policy of this cluster"));
}

TEST_CASE("the priority class of a pod at home is missed where the pod that runs has none") {
  constexpr std::string_view high = R"({"priorityClassName": "high"})";
  const struct {
    std::string_view home, spec, says;
    Texts expected;
  } cases[] = {
      {"{}", "{}", "", {}},
      {high, "{}", "", {"priority class high"}},
      {high, "{}", R"(["priority class high"])", {"priority class high"}},
      {high, "{}", R"(["annotation a.b/c"])", {"annotation a.b/c", "priority class high"}},
      {high, R"({"priorityClassName": "tenants"})", "", {}},
      // The provider has a default one.
      {high, R"({"priorityClassName": "usual"})", R"(["priority class high"])", {"priority class high"}},
  };
  for (const auto& each : cases) {
    CAPTURE(each.says);
    kube::Object remote = local_pod("{}", each.spec);
    if (!each.says.empty()) remote.set_annotation("offloading.liqo.io/left-out", std::string(each.says));
    CHECK(left_out_of(local_pod("{}", each.home), remote) == each.expected);
  }
}

TEST_CASE("labels that no node of the provider has are no matter of its policy") {
  const kube::Object home = local_pod("{}", R"({"priorityClassName": "high", "topologySpreadConstraints": [
    {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]})");
  kube::Object remote = local_pod("{}", R"({"priorityClassName": "usual"})");
  remote.set_annotation("offloading.liqo.io/missing-topology-keys", R"(["zone", "rack"])");
  const Texts zone = left_out_of(home, remote);
  CHECK(zone == Texts{"nodes with label zone"});
  CHECK(
      describe_left_out(zone, "milan") ==
      "cluster milan runs the pod without: nodes with label zone; none of its nodes has such a label, so pods are not "
      "spread or put together by it there");
  remote.mutable_spec().erase("priorityClassName");
  const std::string both = describe_left_out(left_out_of(home, remote), "milan");
  CHECK(both.contains("without: priority class high, nodes with label zone; none of its nodes"));
  CHECK(both.ends_with("; its administrator can allow the rest in the policy of this cluster"));
}

TEST_CASE("it is bounded on both sides, and nothing but text a person can read") {
  Texts many(100, std::string(500, 'x'));
  const Texts read = read_left_out(forge_left_out(many));
  REQUIRE(read.size() == max_left_out);
  CHECK(read.front().size() == max_left_out_text);
  CHECK(forge_left_out(Texts{"a\x1b[2J", "b"}) == R"(["b"])");
  CHECK(forge_left_out(Texts{"a\x1b[2J"}) == "");
  std::string flood = "[";
  for (int i = 0; i < 10'000; ++i) flood += "\"x\",";
  for (const std::string& text : {std::string(), std::string("x"), std::string("{}"), std::string("[1,null,{}]"),
                                  std::string(R"(["\u001b[2J","\u202e",""])"), flood + "\"x\"]"})
    CHECK(read_left_out(text).empty());
}

}  // namespace
}  // namespace liqo::core
