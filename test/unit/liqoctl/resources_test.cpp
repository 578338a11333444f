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
        Case{{.others = {"gpu="}}, "--resource"}, Case{{.cpu = "1", .others = {"cpu=2"}}, "--resource"}}) {
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

}  // namespace
