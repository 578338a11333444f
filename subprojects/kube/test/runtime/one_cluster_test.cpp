// The set-up with which tests of controllers begin.
#include "kube/testing/one_cluster.hpp"

#include <doctest/doctest.h>

#include "kube/testing/tree.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

const ObjectKey key{"shop", "words"};

json::object words() { return {{"metadata", json::object{{"name", key.name}, {"namespace", key.ns}}}}; }

/// Refuses every request while it is closed.
class Closed final : public net::Transport {
 public:
  explicit Closed(SimLink& link) : open_(link) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override {
    if (is_closed) co_return fail(Errc::connect, "closed");
    co_return co_await open_.send(std::move(request), deadline);
  }
  bool is_closed = true;

 private:
  SimTransport open_;
};

}  // namespace

TEST_CASE("the caches of a simulated process follow its server, through a transport of the test") {
  BasicOneCluster<Closed> cluster({.name = "rome", .actor = "shop"});
  {
    const InformerHandle maps = cluster.informers.acquire({.resource = resources::config_maps});
    REQUIRE(cluster.server.create(resources::config_maps, words(), "user"));
    cluster.group.spawn(cluster.informers.run());
    CHECK_FALSE(cluster.reaches([&] { return maps->has_synced(); }));
    CHECK(cluster.link.requests() == 0);
    cluster.transport.is_closed = false;
    CHECK(cluster.reaches([&] { return maps->store().size() == 1; }, std::chrono::minutes(10)));
    REQUIRE(cluster.server.update(
        {resources::config_maps, key}, [](json::object& tree) { set_label(tree, "colour", "blue"); }, "user"));
    CHECK(cluster.reaches([&] { return maps->store().find(key)->label("colour") == "blue"; }));
    cluster.stop();
  }
  CHECK(cluster.group.size() == 0);
}

TEST_CASE("a process with a seed of its own draws nothing from the simulation") {
  OneCluster shared, own({.random = 2});
  CHECK(&shared.environment().random == &shared.simulator.random());
  CHECK(&own.environment().random == &own.random);
  CHECK(&own.random != &own.simulator.random());
  CHECK(own.random.next() == Random(2).next());
}

TEST_CASE("a label or an annotation of a tree is set where there was none, and taken away") {
  json::object tree = words();
  set_label(tree, "colour", "blue");
  set_annotation(tree, "note", "a");
  set_annotation(tree, "note", "b");
  ensure_path(tree, {"spec", "hard"})["pods"] = "1";
  CHECK(string_at(tree, {"metadata", "labels", "colour"}) == "blue");
  CHECK(string_at(tree, {"metadata", "annotations", "note"}) == "b");
  CHECK(string_at(tree, {"metadata", "name"}) == key.name);
  CHECK(string_at(tree, {"spec", "hard", "pods"}) == "1");
  remove_label(tree, "colour");
  remove_annotation(tree, "note");
  CHECK(object_at(tree, {"metadata", "labels"}).empty());
  CHECK(object_at(tree, {"metadata", "annotations"}).empty());
}
