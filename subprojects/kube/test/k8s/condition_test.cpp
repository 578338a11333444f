#include "kube/k8s/condition.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view before = "2026-01-01T00:00:00Z";
const WallTime now = *parse_time("2026-01-02T00:00:00Z");

json::object status_of(std::string_view condition) {
  return json::object{{"conditions", json::array{json::parse(condition)}}};
}

}  // namespace

TEST_CASE("a condition holds if its status is True, and not if it is missing or no condition at all") {
  const auto holds = [](std::string_view conditions) {
    json::value tree = json::parse(R"({"status": {"conditions": )" + std::string(conditions) + "}}");
    return has_condition(Object(std::move(tree.get_object())), "Ready");
  };
  CHECK(holds(R"([{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}])"));
  CHECK(!holds(R"([{"type": "Ready", "status": "Unknown"}])"));
  CHECK(!holds(R"([{"type": "Ready"}])"));
  CHECK(!holds(R"([{"type": "Other", "status": "True"}, "Ready", null])"));
  CHECK(!holds(R"("Ready")"));
}

TEST_CASE("a condition keeps its transition time while its status stays") {
  const json::object present = status_of(
      R"({"type": "Ready", "status": "True", "reason": "Old", "lastTransitionTime": "2026-01-01T00:00:00Z"})");
  struct Case {
    std::string_view type, status, since;
  };
  for (const auto& [type, status, since] :
       {Case{"Ready", "True", before}, Case{"Ready", "False", "2026-01-02T00:00:00Z"},
        Case{"Other", "True", "2026-01-02T00:00:00Z"}}) {
    CAPTURE(type);
    CAPTURE(status);
    const json::object made =
        forge_condition(array_at(present, {"conditions"}), {.type = type, .status = status, .reason = "New"}, now);
    CHECK(string_at(made, {"lastTransitionTime"}) == since);
    CHECK(string_at(made, {"reason"}) == "New");
    CHECK(!made.contains("message"));
  }
}

TEST_CASE("a condition that is set replaces the one of its type and leaves the others") {
  const json::object present = status_of(R"({"type": "Ready", "status": "True"})");
  json::array conditions = array_at(present, {"conditions"});
  set_condition(conditions, present, {.type = "Other", .status = "True"}, now);
  set_condition(conditions, present, {.type = "Ready", .status = "False", .message = "why"}, now);
  REQUIRE(conditions.size() == 2);
  CHECK(string_at(conditions[0], {"message"}) == "why");
  CHECK(find_condition(conditions, "Other") != nullptr);
  CHECK(find_condition(conditions, "Missing") == nullptr);
}
