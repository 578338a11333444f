#include "kube/runtime/merge_patch.hpp"

#include <doctest/doctest.h>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

/// A cache that does not run: all that it shows comes from a write.
struct World : RuntimeFixture {
  Result<std::optional<Object>> patch(const std::string& name, std::string body) {
    Result<std::optional<Object>> answer;
    simulator.run([](World& w, std::string of, std::string text, auto& out) -> asio::awaitable<void> {
      out = co_await merge_patch(w.api, w.cache, {"d", std::move(of)},
                                 {.body = std::move(text), .phase = "writing the size"});
    }(*this, name, std::move(body), answer));
    return answer;
  }
  Informer cache{simulator.executor(), api, {.resource = widgets}, metrics};
};

}  // namespace

TEST_CASE("readers of a cache see the answer to a merge patch at once") {
  World w;
  w.create("a", {{"size", 1}});
  const auto answer = w.patch("a", R"({"spec": {"size": 2}})");
  REQUIRE(answer.has_value());
  REQUIRE(answer->has_value());
  CHECK((*answer)->spec() == json::object{{"size", 2}});
  const auto shown = w.cache.find({"d", "a"});
  REQUIRE(shown.has_value());
  CHECK(shown->resource_version() == (*answer)->resource_version());
  CHECK(shown->spec() == json::object{{"size", 2}});
}

TEST_CASE("a merge patch of an object that is gone answers nothing, and another failure names its phase") {
  World w;
  const auto gone = w.patch("a", R"({"spec": {"size": 2}})");
  REQUIRE(gone.has_value());
  CHECK_FALSE(gone->has_value());
  CHECK(w.cache.store().size() == 0);
  w.create("a", {{"size", 1}});
  w.set("a", 2);
  const auto stale = w.patch("a", R"({"metadata": {"resourceVersion": "1"}, "spec": {"size": 3}})");
  REQUIRE_FALSE(stale.has_value());
  CHECK(stale.error().is_conflict());
  CHECK(stale.error().text().starts_with("writing the size: "));
  CHECK(w.cache.store().size() == 0);
}

TEST_CASE("an object that goes with its last finalizer does not come back into the cache by the answer") {
  World w;
  w.create("a");
  REQUIRE(w.patch("a", R"({"metadata": {"finalizers": ["x/y"]}})").has_value());
  w.remove("a");
  const auto answer = w.patch("a", R"({"metadata": {"finalizers": []}})");
  REQUIRE(answer.has_value());
  CHECK(answer->has_value());
  CHECK_FALSE(w.server.get(widgets, {"d", "a"}));
  const auto shown = w.cache.find({"d", "a"});
  REQUIRE(shown.has_value());
  CHECK_FALSE(shown->is_deleting());
}

TEST_CASE("the answer about a pod in its grace period is taken in, because it is still there") {
  World w;
  REQUIRE(w.server.create(
      resources::pods,
      {{"metadata", json::object{{"namespace", "d"}, {"name", "p"}}},
       {"spec", json::object{{"nodeName", "n"}, {"containers", json::array{json::object{{"name", "c"}}}}}}},
      "user"));
  REQUIRE(w.server.remove(resources::pods, {"d", "p"}, {}, "user"));
  Informer pods(w.simulator.executor(), w.api, {.resource = resources::pods}, w.metrics);
  w.simulator.run([](World& world, Informer& cache) -> asio::awaitable<void> {
    const auto answer = co_await merge_patch(world.api, cache, {"d", "p"},
                                             {.body = R"({"metadata": {"labels": {"a": "b"}}})", .phase = "labelling"});
    CHECK(answer.has_value());
  }(w, pods));
  const auto shown = pods.find({"d", "p"});
  REQUIRE(shown.has_value());
  CHECK(shown->is_deleting());
  CHECK(shown->label("a") == "b");
}
