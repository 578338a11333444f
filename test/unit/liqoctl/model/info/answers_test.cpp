// The answers to requests, as slices, nodes and Events show them.
#include <doctest/doctest.h>

#include "model/events.hpp"
#include "model/info/answers.hpp"

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
  const auto further =
      parsed(R"({"metadata":{"name":"alpha"},"spec":{"resourceQuota":{"hard":{"cpu":"2","pods":"20"}}}})");
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
                          Case{nullptr, &old_virtual_node, &old_node, ""}, Case{&slice, &virtual_node, &node, ""},
                          // liqod does not keep a further node of the slice as large as the grant.
                          Case{&slice, &further, &old_node, ""}})
    CHECK(why_node_is_not_ready(one.slice, one.virtual_node, one.node) == one.missing);
  CHECK(node_message(unready) == "milan is away");
  CHECK(node_message(node).empty());
}

TEST_CASE("of the virtual nodes of a slice that of its name is waited for") {
  const auto named = [](const char* name) { return kube::Object(kube::json::object{{"metadata", {{"name", name}}}}); };
  CHECK(node_to_wait_for({}, "bonn") == nullptr);
  for (const auto& [names, chosen] :
       {std::pair{std::vector{"alpha", "bonn", "zeta"}, "bonn"}, std::pair{std::vector{"bonn", "zeta"}, "bonn"},
        std::pair{std::vector{"alpha", "zeta"}, "alpha"}}) {
    std::vector<kube::Object> nodes;
    for (const char* name : names) nodes.push_back(named(name));
    const kube::Object* node = node_to_wait_for(nodes, "bonn");
    REQUIRE(node);
    CHECK(node->name() == chosen);
  }
}

TEST_CASE("those slices are waited for that a provider denies") {
  const auto accepted = parsed(R"({"metadata":{"name":"accepted"},"spec":{"consumerClusterID":"rome"},
    "status":{"conditions":[{"type":"Resources","status":"Accepted"}]}})");
  const auto denied = parsed(R"({"metadata":{"name":"denied"},"spec":{"consumerClusterID":"rome"},
    "status":{"conditions":[{"type":"Resources","status":"Denied"}]}})");
  const auto unanswered = parsed(R"({"metadata":{"name":"unanswered"},"spec":{"consumerClusterID":"rome"}})");
  const auto going = parsed(R"({"metadata":{"name":"going","deletionTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"consumerClusterID":"rome"}})");
  const auto of_another = parsed(R"({"metadata":{"name":"of-another"},"spec":{"consumerClusterID":"turin"}})");
  const auto of_nobody = parsed(R"({"metadata":{"name":"of-nobody"}})");
  CHECK(not_denied({}, "rome").empty());
  CHECK(not_denied({denied, going, of_another, of_nobody}, "rome").empty());
  CHECK(not_denied({accepted, denied, of_another, unanswered}, "rome") == "accepted, unanswered");
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
