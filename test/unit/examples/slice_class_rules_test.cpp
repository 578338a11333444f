// The rules of examples/slice-class-cpp, which are those of examples/slice-class.
#include <doctest/doctest.h>

#include <tuple>
#include <vector>

#include "../../../examples/slice-class-cpp/rules.hpp"

namespace {

namespace json = kube::json;

constexpr std::string_view now_text = "2026-01-01T00:00:00Z";
kube::WallTime now() { return *kube::parse_time(now_text); }
pool::Amounts the_pool() { return *pool::read_pool("cpu=8,pods=100"); }

/// A slice that requests so much cpu. `granted` is its earlier grant, if it has one.
kube::Object a_slice(std::string_view name, std::string_view cpu, std::string_view granted = {},
                     std::string_view reason = {}) {
  kube::Object slice(json::object{
      {"metadata", json::object{{"name", name}, {"namespace", "rome"}, {"uid", name}, {"resourceVersion", "7"}}},
      {"spec", json::object{{"class", "pool"}, {"resources", json::object{{"cpu", cpu}, {"pods", "10"}}}}}});
  json::array conditions{json::object{{"type", "Authentication"}, {"status", "Accepted"}}};
  if (!reason.empty())
    conditions.push_back(json::object{{"type", "Resources"},
                                      {"status", reason == "FromPool" ? "Accepted" : "Denied"},
                                      {"reason", reason},
                                      {"message", ""},
                                      {"lastTransitionTime", "2025-01-01T00:00:00Z"}});
  slice.mutable_status()["conditions"] = std::move(conditions);
  if (!granted.empty()) slice.mutable_status()["resources"] = json::object{{"cpu", granted}, {"pods", "10"}};
  return slice;
}

pool::Answer decide(const kube::Object& slice, const std::vector<kube::Object>& others = {}) {
  return pool::decide(slice, others, the_pool());
}

}  // namespace

TEST_CASE("a pool is read from the command line, or what is wrong with it is said") {
  const auto read = pool::read_pool("cpu=8, memory = 16Gi");
  REQUIRE(read.has_value());
  CHECK(read->at("cpu") == kube::Quantity(8));
  CHECK(read->at("memory").text() == "16Gi");
  for (const auto& [text, says] : {std::tuple{"cpu=much", "\"much\" is not a quantity"},
                                   {"cpu", "\"cpu\" is not of the form NAME=AMOUNT"},
                                   {"", "no resource is named"}}) {
    CAPTURE(text);
    const auto wrong = pool::read_pool(text);
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().text() == says);
  }
}

TEST_CASE("who gets what of the pool") {
  constexpr std::string_view fits = "it fits into the pool";
  const kube::Object has_six = a_slice("b", "6", "6", "FromPool");
  // A denied edit counts with its grant, not with its request.
  const kube::Object wants_sixty = a_slice("b", "60", "6", "PoolExhausted");
  using Slices = std::vector<kube::Object>;
  for (const auto& [wanted, others, says] :
       {std::tuple<kube::Object, Slices, std::string_view>{a_slice("a", "8"), {}, fits},
        {a_slice("a", "8001m"), {}, "8001m of cpu is more than the 8 that is left"},
        {a_slice("a", "3"), {has_six}, "3 of cpu is more than the 2 that is left"},
        {a_slice("a", "2"), {has_six}, fits},
        {a_slice("a", "2"), {wants_sixty}, fits},
        {a_slice("a", "3"), {wants_sixty}, "3 of cpu is more than the 2 that is left"},
        // Its own grant does not count against it.
        {a_slice("a", "8", "6", "FromPool"), {a_slice("a", "8", "6", "FromPool")}, fits},
        {a_slice("a", "-1"), {}, "cpu is less than nothing"},
        {a_slice("a", "many"), {}, "spec.resources: \"many\" is not a quantity"},
        {a_slice("a", "\x1b[2J"), {}, "spec.resources: \"?[2J\" is not a quantity"},
        // It has that since the pool was larger.
        {a_slice("a", "9", "9", "FromPool"), {}, fits},
        {a_slice("a", "9", "9", "ResourceSliceResourcesAccepted"), {}, "9 of cpu is more than the 8 that is left"}}) {
    CAPTURE(says);
    const pool::Answer answer = decide(wanted, others);
    CHECK(answer.message == says);
    CHECK(answer.accepted == (says == fits));
    CHECK(answer.resources == (answer.accepted ? kube::object_at(wanted.spec(), {"resources"}) : json::object()));
  }
}

TEST_CASE("a slice names every resource of the pool, and no other") {
  kube::Object slice = a_slice("a", "1");
  slice.mutable_spec()["resources"] = json::object{{"cpu", "1"}};
  CHECK(decide(slice).message == "say how much pods is wanted");
  slice.mutable_spec()["resources"] = json::object{{"cpu", "1"}, {"pods", "1"}, {"nvidia.com/gpu", "1"}};
  CHECK(decide(slice).message == "the pool has no nvidia.com/gpu: leave that out");
  slice.mutable_spec()["resources"] = json::object{{std::string(100'000, 'x'), "1"}};
  CHECK(decide(slice).message.size() < 300);
  slice.mutable_spec().clear();
  CHECK(decide(slice).message == "say how much cpu, pods is wanted");
}

TEST_CASE("a denied edit leaves what is granted") {
  const kube::Object slice = a_slice("a", "9", "4", "FromPool");
  const auto patch = pool::plan_status(slice, decide(slice), now());
  REQUIRE(patch.has_value());
  CHECK(patch->at("metadata") == json::object{{"resourceVersion", "7"}});
  const json::object& status = patch->at("status").as_object();
  CHECK_FALSE(status.contains("resources"));
  const json::array& conditions = status.at("conditions").as_array();
  REQUIRE(conditions.size() == 2);
  CHECK(conditions[0] == json::object{{"type", "Authentication"}, {"status", "Accepted"}});
  CHECK(kube::string_at(conditions[1], {"status"}) == "Denied");
  CHECK(kube::string_at(conditions[1], {"reason"}) == "PoolExhausted");
  CHECK(kube::string_at(conditions[1], {"lastTransitionTime"}) == now_text);
}

TEST_CASE("a key that is not granted any more is taken away") {
  kube::Object slice = a_slice("a", "2", "2", "FromPool");
  slice.mutable_status()["resources"].as_object()["memory"] = "1Gi";
  const auto patch = pool::plan_status(slice, decide(slice), now());
  REQUIRE(patch.has_value());
  CHECK(kube::object_at(*patch, {"status", "resources"}) ==
        json::object{{"cpu", "2"}, {"pods", "10"}, {"memory", nullptr}});
}

TEST_CASE("what is said already is not written again, and what Liqo says of the tenant stays") {
  kube::Object slice = a_slice("a", "2", "2", "FromPool");
  slice.mutable_status()["conditions"].as_array()[1].as_object()["message"] = "it fits into the pool";
  CHECK_FALSE(pool::plan_status(slice, decide(slice), now()).has_value());
  for (const std::string_view reason : {"TenantCordoned", "TenantDrained"}) {
    CAPTURE(reason);
    const kube::Object withdrawn = a_slice("a", "2", {}, reason);
    CHECK_FALSE(pool::plan_status(withdrawn, decide(withdrawn), now()).has_value());
  }
}
