#include "controllers/common/guarded_write.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "kube/testing/one_cluster.hpp"

namespace liqo::controllers {
namespace {

namespace asio = boost::asio;
namespace json = kube::json;
using namespace std::chrono_literals;

const kube::ObjectKey key{"shop", "settings"};

/// Cluster rome with a ConfigMap, and a cache of it.
struct Cluster : kube::testing::OneCluster {
  kube::InformerHandle config_maps{informers.acquire({.resource = kube::resources::config_maps})};

  Cluster()
      : kube::testing::OneCluster({.name = "rome",
                                   .actor = "liqo",
                                   .random = 2,
                                   .on_failure = kube::async::TaskGroup::OnFailure::keep_others}) {
    create();
    group.spawn(informers.run());
    pass();
  }
  ~Cluster() { stop(); }

  void create() {
    REQUIRE(server.create(kube::resources::config_maps,
                          {{"metadata", json::object{{"namespace", key.ns}, {"name", key.name}}}}, "user"));
  }
  void change() {
    REQUIRE(server.update(
        {kube::resources::config_maps, key},
        [](json::object& next) { kube::ensure_object(next, "data")["key"] = "theirs"; }, "user"));
  }
  void remove() { REQUIRE(server.remove(kube::resources::config_maps, key, {}, "user")); }
  /// Lets the cache follow.
  void pass() { CHECK(simulator.run_for(1s) == kube::testing::Simulator::End::reached); }
  kube::Object live() { return kube::Object(*server.get(kube::resources::config_maps, key)); }

  kube::Result<kube::Object> patch(const kube::Object& known) {
    std::optional<kube::Result<kube::Object>> answer;
    simulator.run(send_patch(known, answer));
    return std::move(*answer);
  }

 private:
  asio::awaitable<void> send_patch(const kube::Object& known, std::optional<kube::Result<kube::Object>>& answer) {
    const json::object changes{{"data", json::object{{"key", "ours"}}}};
    answer =
        co_await api.patch(kube::resources::config_maps, key, {kube::PatchType::merge, guarded_patch(known, changes)});
  }
};

}  // namespace

TEST_CASE("a guarded patch is refused where the object has changed since, or is another one of its name") {
  Cluster world;
  const kube::Object known = world.live();
  const auto is_refused = [&] {
    const auto answer = world.patch(known);
    return !answer && answer.error().is_conflict();
  };
  SUBCASE("nothing has changed") {
    const auto patched = world.patch(known);
    REQUIRE(patched);
    CHECK(kube::string_at(patched->tree(), {"data", "key"}) == "ours");
  }
  SUBCASE("it has changed") {
    world.change();
    CHECK(is_refused());
    CHECK(kube::string_at(world.live().tree(), {"data", "key"}) == "theirs");
  }
  SUBCASE("it is another one") {
    world.remove();
    world.create();
    CHECK(is_refused());
    CHECK_FALSE(world.live().tree().contains("data"));
  }
}

TEST_CASE("the latest state of an object is that of the cache, as long as it is the same object") {
  Cluster world;
  const kube::Object known = world.live();
  const auto latest = [&] { return latest_of(*world.config_maps, known); };
  CHECK(latest().resource_version() == known.resource_version());
  world.change();
  world.pass();
  CHECK(latest().uid() == known.uid());
  CHECK(latest().resource_version() == world.live().resource_version());
  world.remove();
  world.pass();
  CHECK(latest().resource_version() == known.resource_version());
  world.create();
  world.pass();
  CHECK(latest().uid() == known.uid());
  CHECK(latest().resource_version() == known.resource_version());
}

}  // namespace liqo::controllers
