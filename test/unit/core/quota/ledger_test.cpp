// The record of reservations as text, and the arithmetic of a refusal.
#include "liqo/core/quota/ledger.hpp"

#include <doctest/doctest.h>

namespace liqo::core {
namespace {

Resources resources(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
  Resources out;
  for (const auto& [name, text] : list) out[std::string(name)] = *kube::Quantity::parse(text);
  return out;
}

TEST_CASE("a ledger survives its ConfigMap") {
  LedgerRecord record{.floor = 1234567890123, .reservations = {}};
  record.reservations["uid-1"] = {.pod = {"shop", "web-0"}, .demand = resources({{"cpu", "250m"}, {"pods", "1"}})};
  record.reservations["uid-2"] = {.pod = {"shop", "web.1"}, .demand = {}};
  const kube::Object config_map = forge_ledger("liqo", {"liqo-tenant-rome", "pool-573ffa690333"}, record);
  CHECK(config_map.ns() == "liqo");
  CHECK(config_map.name() == ledger_name({"liqo-tenant-rome", "pool-573ffa690333"}));
  CHECK(config_map.annotation("liqo.io/quota") == "liqo-tenant-rome/pool-573ffa690333");

  const auto read = LedgerRecord::read(config_map);
  REQUIRE(read);
  CHECK(read->floor == record.floor);
  REQUIRE(read->reservations.size() == 2);
  CHECK(read->reservations.at("uid-1").pod.text() == "shop/web-0");
  CHECK(read->reservations.at("uid-1").demand == record.reservations.at("uid-1").demand);
}

TEST_CASE("a ConfigMap without a ledger is empty, and one that is broken is an error") {
  kube::Object config_map = forge_ledger("liqo", {"a", "b"}, {});
  config_map.tree().erase("data");
  REQUIRE(LedgerRecord::read(config_map));
  CHECK(LedgerRecord::read(config_map)->reservations.empty());
  for (const char* text :
       {"", "{", "[]", "{\"version\":2,\"floor\":\"1\"}", "{\"version\":1}", "{\"version\":1,\"floor\":\"-1\"}",
        "{\"version\":1,\"floor\":\"1\",\"reservations\":{\"u\":{\"pod\":\"x\"}}}",
        "{\"version\":1,\"floor\":\"1\",\"reservations\":{\"u\":{\"pod\":\"a/b\",\"demand\":"
        "{\"cpu\":\"-1\"}}}}"}) {
    CAPTURE(text);
    config_map.tree()["data"] = kube::json::object{{ledger_key, text}};
    CHECK_FALSE(LedgerRecord::read(config_map));
  }
}

TEST_CASE("a refusal says what was asked, used, free, and of which quota") {
  struct Case {
    Resources hard, used, demand;
    std::string_view refusal;
  };
  const Case cases[] = {
      {resources({{"cpu", "4"}}), resources({{"cpu", "3"}}), resources({{"cpu", "1"}}), ""},
      {resources({{"cpu", "4"}}), resources({{"cpu", "2"}}), resources({{"cpu", "2500m"}}),
       "quota t/q has not enough cpu: asked 2500m, used 2 of 4, free 2"},
      // A quota that was lowered below what is used.
      {resources({{"cpu", "2"}}), resources({{"cpu", "3"}}), resources({{"cpu", "1"}}),
       "quota t/q has not enough cpu: asked 1, used 3 of 2, free 0"},
      {resources({{"cpu", "2"}}), resources({{"cpu", "3"}}), resources({{"cpu", "0"}}), ""},
      {resources({{"cpu", "4"}}),
       {},
       resources({{"nvidia.com/gpu", "1"}}),
       "quota t/q grants no nvidia.com/gpu: the pod asks for 1, and the resource is not part of the slice"},
      {resources({{"cpu", "4"}}), {}, resources({{"hugepages-2Mi", "0"}}), ""},
      {resources({{"pods", "2"}}), resources({{"pods", "2"}}), resources({{"pods", "1"}}),
       "quota t/q has not enough pods: asked 1, used 2 of 2, free 0"},
      {resources({{"cpu", "2"}}), {}, resources({{"pods", "1"}}), ""},
      {resources({{"memory", "1Gi"}}), resources({{"memory", "1023Mi"}}), resources({{"memory", "1Mi"}}), ""},
      {resources({{"memory", "1Gi"}}), resources({{"memory", "1023Mi"}}), resources({{"memory", "1048577"}}),
       "quota t/q has not enough memory: asked 1048577, used 1023Mi of 1Gi, free 1Mi"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.refusal);
    CHECK(refuse_demand({.quota = {"t", "q"}, .hard = c.hard, .used = c.used}, c.demand) == c.refusal);
  }
}

}  // namespace
}  // namespace liqo::core
