// What slices, nodes and Events show of an answer.
#include <doctest/doctest.h>

#include "model/answers.hpp"
#include "model/events.hpp"

namespace {

using namespace liqoctl::model;

kube::Object parsed(const char* text) {
  auto object = kube::Object::parse(text);
  REQUIRE(object);
  return *object;
}

TEST_CASE("a node is waited for until it has what was granted, and says what is missing") {
  const auto slice = parsed(R"({"metadata":{"name":"s"},"status":{"resources":{"cpu":"4","pods":"20"}}})");
  const auto old_virtual_node =
      parsed(R"({"metadata":{"name":"s"},"spec":{"resourceQuota":{"hard":{"cpu":"2","pods":"20"}}}})");
  const auto virtual_node =
      parsed(R"({"metadata":{"name":"s"},"spec":{"resourceQuota":{"hard":{"cpu":"4000m","pods":20,"bad":"x"}}}})");
  const auto old_node = parsed(R"({"metadata":{"name":"s"},"status":{"allocatable":{"cpu":"2","pods":"20"},
    "conditions":[{"type":"Ready","status":"True"}]}})");
  const auto node = parsed(R"({"metadata":{"name":"s"},"status":{"allocatable":{"cpu":"4","pods":"20"},
    "conditions":[{"type":"Ready","status":"True"}]}})");
  const auto unready = parsed(R"({"metadata":{"name":"s"},"status":{"allocatable":{"cpu":"4","pods":"20"},
    "conditions":[{"type":"Ready","status":"False","message":"milan is away"}]}})");
  struct Case {
    const kube::Object *slice, *virtual_node, *node;
    const char* missing;
  };
  for (const Case& one : {Case{&slice, nullptr, nullptr, "there is no such VirtualNode"},
                          Case{&slice, &virtual_node, nullptr, "there is no such Node yet"},
                          Case{&slice, &old_virtual_node, &old_node, "it does not have cpu 4 yet"},
                          Case{&slice, &virtual_node, &old_node, "it does not have cpu 4000m yet"},
                          Case{&slice, &virtual_node, &unready, "Ready is False: milan is away"},
                          Case{nullptr, &old_virtual_node, &old_node, ""}, Case{&slice, &virtual_node, &node, ""}})
    CHECK(why_node_is_not_ready(one.slice, one.virtual_node, one.node) == one.missing);
  CHECK(node_message(unready) == "milan is away");
  CHECK(node_message(node).empty());
}

TEST_CASE("a class that is not Liqo's own waits for somebody else") {
  CHECK(who_decides("default").empty());
  CHECK(who_decides("share").empty());
  CHECK(who_decides("gold").contains("class gold is none of Liqo's"));
}

TEST_CASE("of Events the newest about the object counts, and none that is old") {
  const auto event = [](const char* uid, const char* time, const char* message) {
    kube::Object made = parsed(R"({"metadata":{"name":"e"}})");
    made.tree()["involvedObject"] = kube::json::object{{"uid", uid}};
    made.tree()["lastTimestamp"] = time;
    made.tree()["message"] = message;
    return made;
  };
  const std::vector events{event("u", "2026-01-01T10:00:00Z", "older"), event("u", "2026-01-01T10:05:00Z", "new\nest"),
                           event("other", "2026-01-01T10:06:00Z", "of another"), event("u", "soon", "without a time")};
  const auto at = [](const char* text) { return *kube::parse_time(text); };
  CHECK(newest_message(events, "u", at("2026-01-01T09:00:00Z")) == "new est");
  CHECK(newest_message(events, "u", at("2026-01-01T10:05:01Z")).empty());
  CHECK(newest_message({}, "u", at("2026-01-01T09:00:00Z")).empty());
}

}  // namespace
