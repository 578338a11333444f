// Which keys a controller works on because of a cache that it watches, and what it waits for.
#include <doctest/doctest.h>

#include <map>

#include "kube/runtime/controller.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/to_keys.hpp"
#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

using Runs = std::map<std::string, int>;

constexpr Resource gadgets{"example.io", "v1", "gadgets", "Gadget"};

/// A controller of Widgets, and the Gadgets that it looks at; the server does not serve them yet.
struct World {
  ~World() { f.simulator.run(f.group.stop()); }

  void start() {
    f.group.spawn(set.run());
    f.group.spawn(controller.run());
  }
  void create_gadget(const std::string& name, const std::string& ns = "d") {
    REQUIRE(
        f.server.create(gadgets, json::object{{"metadata", json::object{{"name", name}, {"namespace", ns}}}}, "user"));
  }
  /// The keys that are worked on from now on, each with its group.
  Runs runs_after(const std::function<void()>& change) {
    runs.clear();
    change();
    f.pass(5s);
    return runs;
  }

  RuntimeFixture f;
  InformerSet set{f.simulator.executor(), f.api, f.metrics};
  InformerHandle widgets_of = set.acquire({.resource = widgets}), gadgets_of = set.acquire({.resource = gadgets});
  Runs runs;
  Controller controller{{f.simulator.executor(), f.simulator.clock(), f.random, f.metrics},
                        {.name = "widget"},
                        [this](WorkKey key) -> asio::awaitable<Outcome> {
                          ++runs[key.group + ":" + key.object.text()];
                          co_return Outcome::done();
                        }};
};

}  // namespace

TEST_CASE("no key is worked on before all that is watched or read has synced") {
  World world;
  world.f.create("a");
  world.controller.watch(world.widgets_of);
  SUBCASE("a cache that makes keys due") {
    world.controller.watch(world.gadgets_of, in_namespace_of(world.widgets_of));
  }
  SUBCASE("one that makes none due") { world.controller.reads(world.gadgets_of); }
  SUBCASE("one whose objects are followed") {
    world.controller.follow(world.gadgets_of, [](const Change&) {});
  }
  SUBCASE("something else that has caches") { world.controller.reads(world.set); }
  world.start();
  world.f.pass(20s);
  REQUIRE(world.widgets_of->has_synced());
  CHECK_FALSE(world.controller.has_synced());
  CHECK(world.runs.empty());
  world.f.server.serve(gadgets);
  CHECK(world.f.reaches([&] { return world.runs == Runs{{"d:d/a", 1}}; }));
  CHECK(world.controller.has_synced());
}

TEST_CASE("a change makes due what its reaction answers, in the group of its namespace") {
  World world;
  world.f.server.serve(gadgets);
  world.f.create("a");
  world.f.create("b");
  world.f.create("c", {}, "e");
  world.controller.watch(world.widgets_of);
  SUBCASE("every object of its namespace") {
    world.controller.watch(world.gadgets_of, in_namespace_of(world.widgets_of));
    world.start();
    CHECK(world.runs_after([] {}) == Runs{{"d:d/a", 1}, {"d:d/b", 1}, {"e:e/c", 1}});
    CHECK(world.runs_after([&] { world.create_gadget("x"); }) == Runs{{"d:d/a", 1}, {"d:d/b", 1}});
  }
  SUBCASE("one key, or none") {
    world.controller.watch(world.gadgets_of, without_prefix("of-", world.widgets_of));
    world.start();
    world.runs_after([] {});
    CHECK(world.runs_after([&] { world.create_gadget("of-b"); }) == Runs{{"d:d/b", 1}});
    CHECK(world.runs_after([&] { world.create_gadget("of-c"); }).empty());
    CHECK(world.runs_after([&] { world.create_gadget("b"); }).empty());
  }
  SUBCASE("its namespace") {
    world.controller.watch(world.gadgets_of, to_namespace);
    world.start();
    world.runs_after([] {});
    CHECK(world.runs_after([&] { world.create_gadget("x", "e"); }) == Runs{{":e", 1}});
  }
  SUBCASE("what it enqueues by itself") {
    world.controller.watch(world.gadgets_of, [&](const Change& gadget) {
      if (gadget.now) world.controller.enqueue({"own", gadget.key});
    });
    world.start();
    world.runs_after([] {});
    CHECK(world.runs_after([&] { world.create_gadget("x"); }) == Runs{{"own:d/x", 1}});
  }
  CHECK(world.runs_after([&] { world.f.set("a", 2); }) == Runs{{"d:d/a", 1}});
}

TEST_CASE("the end of a first list makes all objects due that are reconciled, or what is asked for instead") {
  World world;
  world.f.create("a");
  world.start();
  // Others have this watch already: nobody is notified of what is there.
  REQUIRE(world.f.reaches([&] { return world.widgets_of->has_synced(); }));
  world.controller.watch(world.widgets_of);
  int lists = 0;
  Runs expected{{"d:d/a", 1}};
  SUBCASE("all") { world.controller.watch(world.gadgets_of, to_namespace); }
  SUBCASE("something else") {
    expected.clear();
    world.controller.watch(world.gadgets_of, to_namespace, [&] { ++lists; });
  }
  CHECK(world.runs_after([] {}).empty());
  world.f.server.serve(gadgets);
  REQUIRE(world.f.reaches([&] { return world.gadgets_of->has_synced(); }));
  world.f.pass(5s);
  CHECK(world.runs == expected);
  CHECK(lists == (expected.empty() ? 1 : 0));
}

TEST_CASE("what is followed is told as it is, and then as it changes") {
  World world;
  world.f.create("a");
  world.start();
  REQUIRE(world.f.reaches([&] { return world.widgets_of->has_synced(); }));
  std::string told;
  world.controller.follow(world.widgets_of, [&](const Change& widget) { told += widget.key.name + " "; });
  CHECK(told == "a ");
  world.f.create("b");
  CHECK(world.f.reaches([&] { return told == "a b "; }));
}
