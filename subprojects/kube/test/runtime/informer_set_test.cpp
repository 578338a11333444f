// The informers of one server together: shared, stopped, lost, and doubted.
#include "kube/runtime/informer_set.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

/// Not a std::exception: nobody may contain it.
struct Odd {};

asio::awaitable<void> note_end(InformerSet& set, std::string& how) {
  try {
    co_await set.run();
  } catch (const Odd&) {
    how = "odd";
  }
}

/// Widgets that one handle of a set has read, and another handle of it that is to follow them.
struct Followed {
  explicit Followed(std::initializer_list<const char*> names) {
    for (const char* name : names) f.create(name);
    f.group.spawn(set.run());
    first = set.acquire({.resource = widgets});
    REQUIRE(f.reaches([this] { return set.has_synced(); }));
    second = set.acquire({.resource = widgets});
  }
  ~Followed() {
    first.release();
    second.release();
    f.simulator.run(f.group.stop());
  }

  RuntimeFixture f;
  InformerSet set{f.simulator.executor(), f.api, f.metrics};
  InformerHandle first, second;
  std::vector<std::string> told;
};

}  // namespace

TEST_CASE("what no reader of a resource needs is pruned for all of them") {
  RuntimeFixture f;
  InformerSet set(f.simulator.executor(), f.api, f.metrics);
  set.prune(widgets, [](json::object& tree) { tree.erase("spec"); });
  f.create("a");
  f.group.spawn(set.run());
  {
    InformerHandle usual = set.acquire({.resource = widgets}), second = set.acquire({.resource = widgets});
    InformerHandle own = set.acquire({.resource = widgets, .prune = [](json::object& tree) { tree["mine"] = true; }});
    CHECK(&*usual == &*second);
    CHECK(f.reaches([&] { return set.has_synced(); }));
    const auto pruned = usual->find({"d", "a"}), other = own->find({"d", "a"});
    REQUIRE(pruned);
    CHECK_FALSE(pruned->tree().contains("spec"));
    REQUIRE(other);
    CHECK(other->tree().contains("mine"));
    CHECK(other->tree().contains("spec"));
  }
  f.simulator.run(f.group.stop());
}

TEST_CASE("readers of one scope share a watch, and it ends with the last of them") {
  RuntimeFixture f;
  InformerSet set(f.simulator.executor(), f.api, f.metrics);
  f.create("a");
  f.group.spawn(set.run());
  {
    InformerHandle first = set.acquire({.resource = widgets});
    InformerHandle second = set.acquire({.resource = widgets});
    CHECK(&*first == &*second);
    CHECK(f.reaches([&] { return set.has_synced(); }));
    CHECK(f.link.requests() == 1);
  }
  f.pass(1s);
  const std::uint64_t before = f.link.requests();
  f.pass(10min);
  CHECK(f.link.requests() == before);
  f.simulator.run(f.group.stop());
}

TEST_CASE("an informer that ends by an exception ends the set, and is not lost in silence") {
  RuntimeFixture f;
  InformerSet set(f.simulator.executor(), f.api, f.metrics);
  std::string how;
  f.group.spawn(note_end(set, how));
  InformerHandle good = set.acquire({.resource = resources::pods});
  InformerHandle bad = set.acquire({.resource = widgets});
  bad.subscribe([](const ObjectKey&) { throw Odd{}; });
  f.pass(10s);
  CHECK(how.empty());
  f.create("a");
  CHECK(f.reaches([&] { return how == "odd"; }));
}

TEST_CASE("all informers of a restored server read anew, by themselves after a silence, or when asked to at once") {
  RuntimeFixture f;
  InformerSet set(f.simulator.executor(), f.api, f.metrics);
  f.create("a");
  const std::uint64_t snapshot = f.server.store().version();
  f.set("a", 1);
  const auto make_map = [&](const char* name) {
    REQUIRE(f.server.create(resources::config_maps, {{"metadata", json::object{{"name", name}, {"namespace", "d"}}}},
                            "user"));
  };
  make_map("lost");
  f.group.spawn(set.run());
  InformerHandle shown = set.acquire({.resource = widgets});
  InformerHandle maps = set.acquire({.resource = resources::config_maps});
  REQUIRE(f.reaches([&] { return set.has_synced(); }));
  int told = 0;
  maps.subscribe([&](const ObjectKey&) { ++told; });
  f.server.store().rewind(snapshot);
  SUBCASE("by a refresh") {
    std::optional<Result<void>> refreshed;
    f.group.spawn([](Informer& informer, std::optional<Result<void>>& done) -> asio::awaitable<void> {
      done = co_await informer.refresh();
    }(*maps, refreshed));
    REQUIRE(f.reaches([&] { return refreshed.has_value(); }));
    CHECK_FALSE(refreshed->has_value());
  }
  for (int i = 0; i < 20; ++i) make_map(("new-" + std::to_string(i)).c_str());
  const auto is_true = [&] { return maps->store().size() == 20 && shown->store().version({"d", "a"}) <= snapshot; };
  SUBCASE("after a silence") {
    f.link.refuse();
    f.pass(8s);
    f.link.heal();
  }
  SUBCASE("by request") { set.read_anew(); }
  CHECK(f.reaches(is_true));
  CHECK(told >= 21);
  shown.release();
  maps.release();
  f.simulator.run(f.group.stop());
}

TEST_CASE("a handler that throws at what is there when it begins to follow is told the rest, and what comes later") {
  Followed set({"a", "b"});
  set.second.follow([&set](const Change& change) {
    set.told.push_back(change.key.name);
    throw std::runtime_error("a bug");
  });
  CHECK(set.told == std::vector<std::string>{"a", "b"});
  set.f.create("c");
  CHECK(set.f.reaches([&] { return set.told == std::vector<std::string>{"a", "b", "c"}; }));
}

TEST_CASE("who follows a watch that others have already is told what is there, once") {
  Followed set({"a"});
  set.second.follow([&set](const Change& change) {
    CHECK(change.now != nullptr);
    set.told.push_back(change.key.name);
  });
  CHECK(set.told == std::vector<std::string>{"a"});
  set.f.create("b");
  REQUIRE(set.f.reaches([&] { return set.told.size() > 1; }));
  CHECK(set.told == std::vector<std::string>{"a", "b"});
}
