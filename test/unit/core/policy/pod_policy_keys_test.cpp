// The keys of a policy by what they hold, and that each is read as that.
#include "core/policy/pod_policy_keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/policy/pod_policy.hpp"

namespace liqo::core {
namespace {

std::string_view sample_of(PolicyValue value) {
  switch (value) {
    case PolicyValue::flag:
      return "true";
    case PolicyValue::names:
      return R"(["a"])";
    case PolicyValue::ranges:
      return R"(["10.0.0.0/8"])";
    case PolicyValue::number:
      return "7";
    case PolicyValue::amounts:
      return R"({"cpu":"3"})";
    case PolicyValue::times:
      return R"({"maxBlock":"10m"})";
  }
  return "";
}

std::string mistake_in(std::string_view policy) {
  const auto read = read_pod_policy(policy);
  return read ? "" : read.error().text();
}

}  // namespace

TEST_CASE("each key takes what it is said to hold, changes the policy by it, and nothing else") {
  const std::vector<PolicyKey> keys = policy_keys();
  CHECK(keys.size() == 48);
  for (const PolicyKey& key : keys) {
    CAPTURE(key.name);
    const auto written = [&key](std::string_view value) {
      return "{\"" + std::string(key.name) + "\":" + std::string(value) + "}";
    };
    const auto read = read_pod_policy(written(sample_of(key.value)));
    REQUIRE(read);
    CHECK(*read != PodPolicy());
    CHECK(mistake_in(written("null")).contains("\"" + std::string(key.name) + "\" must "));
  }
}

TEST_CASE("what forbids what it names is told from what allows it") {
  std::vector<std::string_view> forbidding;
  for (const PolicyKey& key : policy_keys())
    if (key.forbids) forbidding.push_back(key.name);
  std::ranges::sort(forbidding);
  CHECK(forbidding == std::vector<std::string_view>{"alwaysPullImages", "refusedServiceTypes", "strictMetadata"});
}

TEST_CASE("a key that nobody knows is refused with the nearest one, where one is near") {
  CHECK(mistake_in(R"({"maxResorces":{"cpu":"3"}})") ==
        "\"maxResorces\" is not a key of it; did you mean maxResources?");
  CHECK(mistake_in(R"({"weather":1})") == "\"weather\" is not a key of it");
  CHECK(mistake_in("{\"" + std::string(9000, 'x') + "\":1}").size() < 150);
}

}  // namespace liqo::core
