// Amounts of resources from flags.
#include <doctest/doctest.h>

#include "model/resources.hpp"

namespace {

using namespace liqoctl::model;

TEST_CASE("only what was given is asked for, as it was typed") {
  const auto list = resource_list({.cpu = "8", .memory = "16Gi", .pods = "200", .others = {"nvidia.com/gpu=2"}});
  REQUIRE(list);
  CHECK(json::serialize(*list) == R"({"cpu":"8","memory":"16Gi","pods":"200","nvidia.com/gpu":"2"})");
  CHECK(resource_list({})->empty());
  CHECK(in_words(*list) == "cpu 8, memory 16Gi, pods 200, nvidia.com/gpu 2");
  CHECK(in_words({}) == "nothing");
}

TEST_CASE("a wrong amount is refused with the flag it came by") {
  struct Case {
    ResourceFlags flags;
    const char* flag;
  };
  for (const Case& one :
       {Case{{.cpu = "four"}, "--cpu"}, Case{{.memory = "-1Gi"}, "--memory"}, Case{{.pods = "1 "}, "--pods"},
        Case{{.others = {"gpu"}}, "--resource"}, Case{{.others = {"=2"}}, "--resource"},
        Case{{.others = {"gpu="}}, "--resource"}, Case{{.cpu = "1", .others = {"cpu=2"}}, "--resource"},
        Case{{.cpu = "0"}, "--cpu"}, Case{{.memory = "0Mi"}, "--memory"}, Case{{.pods = "0"}, "--pods"},
        Case{{.others = {"pods=0"}}, "--resource"}, Case{{.memory = "16"}, "--memory"},
        Case{{.memory = "900k"}, "--memory"}, Case{{.others = {"ephemeral-storage=20"}}, "--resource"}}) {
    const auto list = resource_list(one.flags);
    REQUIRE_FALSE(list);
    CAPTURE(list.error().text());
    CHECK(list.error().text().starts_with(one.flag));
  }
}

TEST_CASE("amounts are compared by value") {
  CHECK(same_amounts({{"cpu", "8000m"}}, {{"cpu", "8"}}));
  CHECK(same_amounts({{"pods", 110}}, {{"pods", "110"}}));
  CHECK_FALSE(same_amounts({{"cpu", "8"}}, {{"cpu", "9"}}));
  CHECK_FALSE(same_amounts({{"cpu", "8"}}, {{"memory", "8"}}));
  CHECK_FALSE(same_amounts({{"cpu", "8"}}, {}));
}

TEST_CASE("what is set aside for pods that were just admitted counts as used, as a refusal counts it") {
  const auto used = counted_use(json::parse(R"({"used":{"cpu":"500m","memory":"1Gi"},
    "reserved":{"cpu":"1500m","pods":"3","odd":{}},"pods":1})")
                                    .get_object());
  CHECK(used == json::parse(R"({"cpu":"2","memory":"1Gi","pods":"3"})"));
  CHECK(counted_use({}).empty());
}

TEST_CASE("amounts in sentences are as people write them") {
  CHECK(in_words({{"cpu", "1k"}, {"memory", "8Gi"}, {"pods", "12k"}, {"odd", "k"}}) ==
        "cpu 1000, memory 8Gi, pods 12000, odd k");
}

TEST_CASE("a node may be without what not every node has") {
  CHECK(check_amount("nvidia.com/gpu", "0"));
  CHECK(check_amount("ephemeral-storage", "0"));
  CHECK(check_pair("nvidia.com/gpu=0"));
  CHECK(check_amount("cpu", "500m"));
}

TEST_CASE("a change says what was and what is") {
  struct Case {
    json::object before, after;
    const char* words;
  };
  for (const Case& one :
       {Case{{{"cpu", "1000"}, {"memory", "1Gi"}}, {{"cpu", "2"}, {"memory", "1Gi"}}, "cpu 1000 → 2, memory 1Gi"},
        Case{{{"cpu", "2"}}, {{"cpu", "2"}, {"pods", "5"}}, "cpu 2, pods as the provider gives → 5"},
        Case{{{"cpu", "2"}}, {}, "cpu 2 → as the provider gives"}, Case{{}, {}, "nothing"}})
    CHECK(change_in_words(one.before, one.after) == one.words);
}

TEST_CASE("what is granted beyond the nodes is named") {
  const auto node = [](const char* text) {
    auto object = kube::Object::parse(text);
    REQUIRE(object);
    return *object;
  };
  const std::vector nodes{
      node(R"({"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"1500m","memory":"4Gi"}}})"),
      node(R"({"metadata":{"name":"b"},"status":{"allocatable":{"cpu":"500m","memory":"4Gi"}}})"),
      node(
          R"({"metadata":{"name":"v","labels":{"liqo.io/type":"virtual-node"}},"status":{"allocatable":{"cpu":"64"}}})")};
  CHECK(beyond_nodes({{"cpu", "2"}, {"memory", "8Gi"}}, nodes).empty());
  CHECK(beyond_nodes({{"cpu", "1k"}, {"memory", "8Gi"}, {"nvidia.com/gpu", "2"}}, nodes) ==
        "cpu 1000 (its nodes have 2), nvidia.com/gpu 2 (its nodes have 0)");
}

}  // namespace
