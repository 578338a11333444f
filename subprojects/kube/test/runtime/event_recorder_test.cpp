// Events: folded, bounded, best effort.
#include "kube/runtime/event_recorder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

struct World : RuntimeFixture {
  World() : recorder(simulator.executor(), api, metrics, "test") { group.spawn(recorder.run()); }
  ~World() { simulator.run(group.stop()); }
  static Object widget(const char* uid) {
    Object object = Object::make(widgets, {"d", "w"});
    object.mutable_metadata()["uid"] = uid;
    return object;
  }
  std::vector<Tree> events() { return server.list(resources::events); }
  EventRecorder recorder;
};

}  // namespace

TEST_CASE("a repeat is counted and costs no write of its own within the fold time") {
  World w;
  for (int i = 0; i < 10; ++i) w.recorder.warning(World::widget("u1"), widgets, "Refused", "no room");
  w.pass(1s);
  REQUIRE(w.events().size() == 1);
  const json::object& event = *w.events()[0];
  CHECK(string_at(event, {"involvedObject", "kind"}) == "Widget");
  CHECK(string_at(event, {"involvedObject", "uid"}) == "u1");
  CHECK(string_at(event, {"message"}) == "no room");
  const std::uint64_t written = w.link.requests();
  w.pass(6min);
  w.recorder.warning(World::widget("u1"), widgets, "Refused", "no room");
  w.pass(1s);
  REQUIRE(w.events().size() == 1);
  CHECK(int_at(json::value(*w.events()[0]), {"count"}) == 11);
  CHECK(w.link.requests() == written + 1);
}

TEST_CASE("a repeat of an Event that the server has dropped for its age is an Event again, with its count") {
  World w;
  w.recorder.warning(World::widget("u1"), widgets, "Refused", "no room");
  w.pass(1s);
  REQUIRE(w.events().size() == 1);
  const std::string first(string_at(*w.events()[0], {"firstTimestamp"}));
  w.pass(2h);
  CHECK(w.server.remove(resources::events, Object(*w.events()[0]).key(), {}, "server"));
  w.recorder.warning(World::widget("u1"), widgets, "Refused", "no room");
  w.pass(1s);
  REQUIRE(w.events().size() == 1);
  CHECK(int_at(*w.events()[0], {"count"}) == 2);
  CHECK(string_at(*w.events()[0], {"firstTimestamp"}) == first);
  CHECK(string_at(*w.events()[0], {"lastTimestamp"}) > first);
  CHECK(w.metrics_have("kube_events_total{outcome=\"dropped\"} 0"));
}

TEST_CASE("another object, reason or message is another Event") {
  World w;
  w.recorder.warning(World::widget("u1"), widgets, "Refused", "no room");
  w.recorder.warning(World::widget("u2"), widgets, "Refused", "no room");
  w.recorder.warning(World::widget("u1"), widgets, "Refused", "not now");
  w.recorder.normal(World::widget("u1"), widgets, "Taken", "no room");
  w.pass(1s);
  CHECK(w.events().size() == 4);
}

TEST_CASE("the name of an Event is one that servers take, wherever that of its object is cut") {
  for (const std::string_view at_the_cut : {"a", "-", ".", "a.-", "--."}) {
    CAPTURE(at_the_cut);
    World w;
    Object object = World::widget("u1");
    std::string name(230 - at_the_cut.size(), 'n');
    name.append(at_the_cut).append("rest");
    object.mutable_metadata()["name"] = name;
    w.recorder.warning(object, widgets, "Refused", "no room");
    w.pass(1s);
    REQUIRE(w.events().size() == 1);
    const std::string event(string_at(*w.events()[0], {"metadata", "name"}));
    CHECK(event.size() <= 253);
    const std::string stem = event.substr(0, event.rfind('.'));
    CHECK(name.starts_with(stem));
    CHECK(std::isalnum(static_cast<unsigned char>(stem.back())) != 0);
    CHECK(string_at(*w.events()[0], {"involvedObject", "name"}) == name);
  }
}

TEST_CASE("what does not fit is dropped and counted, and a server that is away holds nobody up") {
  World w;
  w.link.refuse();
  for (int i = 0; i < 1000; ++i)
    w.recorder.warning(World::widget("u1"), widgets, "Refused", "message " + std::to_string(i));
  w.pass(1min);
  w.link.heal();
  w.recorder.warning(World::widget("u2"), widgets, "Refused", "after it");
  CHECK(w.reaches([&] { return !w.events().empty(); }));
  CHECK(w.metrics_have("kube_events_total{outcome=\"dropped\"} 1000"));
}

TEST_CASE("what goes well all the time is told behind all others, one a second, and no more than can be in a minute") {
  World w;
  w.recorder.routine(World::widget("u1"), widgets, "Started", "it runs");
  w.pass(10ms);
  CHECK(w.events().size() == 1);
  for (int i = 0; i < 100; ++i) w.recorder.routine(World::widget("u2"), widgets, "Started", std::to_string(i));
  w.recorder.warning(World::widget("u3"), widgets, "Refused", "no room");
  w.pass(100ms);
  REQUIRE(w.events().size() == 2);
  CHECK(std::ranges::any_of(w.events(), [](const Tree& event) { return string_at(*event, {"reason"}) == "Refused"; }));
  w.pass(10s);
  CHECK(w.events().size() == 12);
  w.pass(50s);
  CHECK(w.events().size() == 2 + EventRecorder::max_routine);
  CHECK(w.metrics_have("kube_events_total{outcome=\"dropped\"} 50"));
  // A repeat is folded as others are.
  w.recorder.routine(World::widget("u1"), widgets, "Started", "it runs");
  w.pass(10s);
  CHECK(w.events().size() == 2 + EventRecorder::max_routine);
  CHECK(w.metrics_have("kube_events_total{outcome=\"folded\"} 1"));
}

TEST_CASE("what waits of an object that goes is not told any more") {
  World w;
  for (const char* uid : {"u1", "u2", "u22", "u3"})
    w.recorder.routine(World::widget(uid), widgets, "Started", "it runs");
  w.pass(10ms);
  w.recorder.forget_routine("u2");
  w.recorder.forget_routine("u1");
  w.pass(1min);
  std::set<std::string> told;
  for (const Tree& event : w.events()) told.emplace(string_at(*event, {"involvedObject", "uid"}));
  CHECK(told == std::set<std::string>{"u1", "u22", "u3"});
  CHECK(w.metrics_have("kube_events_total{outcome=\"dropped\"} 1"));
}

TEST_CASE("a server that is away holds up no Event that is noted after what goes well") {
  World w;
  for (int i = 0; i < 60; ++i) w.recorder.routine(World::widget("u2"), widgets, "Started", std::to_string(i));
  w.pass(3s);
  w.link.refuse();
  w.pass(10s);
  w.link.heal();
  w.recorder.warning(World::widget("u3"), widgets, "Refused", "no room");
  CHECK(w.reaches([&] {
    return std::ranges::any_of(w.events(),
                               [](const Tree& event) { return string_at(*event, {"reason"}) == "Refused"; });
  }));
}
