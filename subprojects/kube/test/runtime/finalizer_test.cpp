#include "kube/runtime/finalizer.hpp"

#include <doctest/doctest.h>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

constexpr std::string_view finalizer = "example.io/cleanup";

/// A cache that does not run: all that it shows comes from a write.
struct World : RuntimeFixture {
  Object live(const std::string& name) {
    const Tree tree = server.get(widgets, {"d", name});
    REQUIRE(tree);
    return Object(*tree);
  }
  Result<void> add(const Object& object) { return carry_out(object, true); }
  Result<void> remove_from(const Object& object) { return carry_out(object, false); }
  json::array finalizers(const std::string& name) { return array_at(live(name).metadata(), {"finalizers"}); }

  Informer cache{simulator.executor(), api, {.resource = widgets}, metrics};

 private:
  Result<void> carry_out(const Object& object, bool wanted) {
    Result<void> done;
    simulator.run([](World& w, Object of, bool adds, auto& out) -> asio::awaitable<void> {
      out = adds ? co_await add_finalizer(w.api, w.cache, std::move(of), finalizer)
                 : co_await remove_finalizer(w.api, w.cache, std::move(of), finalizer);
    }(*this, object, wanted, done));
    return done;
  }
};

}  // namespace

TEST_CASE("a finalizer is added and removed once, and readers of the cache see it at once") {
  World w;
  w.create("a");
  CHECK(w.add(w.live("a")).has_value());
  CHECK(w.finalizers("a") == json::array{finalizer});
  CHECK(array_at(w.cache.find({"d", "a"})->metadata(), {"finalizers"}) == json::array{finalizer});
  CHECK(w.link.requests() == 1);
  CHECK(w.add(w.live("a")).has_value());
  CHECK(w.link.requests() == 1);
  CHECK(w.remove_from(w.live("a")).has_value());
  CHECK(w.finalizers("a").empty());
  CHECK(array_at(w.cache.find({"d", "a"})->metadata(), {"finalizers"}).empty());
  CHECK(w.link.requests() == 2);
  CHECK(w.remove_from(w.live("a")).has_value());
  CHECK(w.link.requests() == 2);
}

TEST_CASE("an object that is being deleted takes no finalizer, and goes with its last one") {
  World w;
  w.create("a");
  REQUIRE(w.add(w.live("a")).has_value());
  w.remove("a");
  Object deleting = w.live("a");
  REQUIRE(deleting.is_deleting());
  deleting.mutable_metadata().erase("finalizers");
  CHECK(w.add(deleting).has_value());
  CHECK(w.link.requests() == 1);
  CHECK(w.remove_from(w.live("a")).has_value());
  CHECK_FALSE(w.server.get(widgets, {"d", "a"}));
}

TEST_CASE("a finalizer of an object that is gone is no failure, and one of an object that has changed is a conflict") {
  World w;
  w.create("a");
  const Object first = w.live("a");
  w.set("a", 1);
  const auto stale = w.add(first);
  REQUIRE_FALSE(stale.has_value());
  CHECK(stale.error().is_conflict());
  CHECK(stale.error().text().starts_with("adding the finalizer: "));
  w.remove("a");
  CHECK(w.add(first).has_value());
  CHECK(w.cache.store().size() == 0);
}
