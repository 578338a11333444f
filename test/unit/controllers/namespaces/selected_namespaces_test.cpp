// Namespaces that are offloaded because of their labels, with all controllers of liqod over one fake API server.
#include "controllers/namespaces/selected_namespaces.hpp"

#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

constexpr std::string_view shop = "shop";

struct Selecting : ClusterFixture {
  explicit Selecting(std::string selector = "team=ml", std::string strategy = "Remote") : ClusterFixture("rome") {
    start(settings(std::move(selector), std::move(strategy)));
  }
  ~Selecting() { stop(); }

  static controllers::Settings settings(std::string selector, std::string strategy = "Remote") {
    controllers::Settings made;
    made.namespaces.selected_namespaces =
        core::NamespaceSelection::read(
            {.selector = std::move(selector), .pod_strategy = std::move(strategy), .clusters = {}}, "liqo")
            .value();
    return made;
  }
  void make_namespace(std::string_view name, std::string_view team) {
    kube::Object ns = kube::Object::make(resources::namespaces, {"", std::string(name)});
    if (!team.empty()) ns.set_label("team", team);
    apply(resources::namespaces, ns);
  }
  void relabel(std::string_view team) {
    change(resources::namespaces, {"", std::string(shop)}, "",
           [&](json::object& next) { next["metadata"].as_object()["labels"].as_object()["team"] = team; });
  }
  std::optional<kube::Object> offloading(std::string_view ns = shop) {
    return find(kinds::namespace_offloadings, {std::string(ns), "offloading"});
  }
  bool is_labelled() {
    return find(resources::namespaces, {"", std::string(shop)})->label(api::labels::scheduling_enabled) == "true";
  }
};

}  // namespace

TEST_CASE("a namespace is offloaded while it has the labels") {
  Selecting world;
  world.make_namespace(shop, "ml");
  world.make_namespace("office", "sales");
  REQUIRE(world.reaches([&] { return world.offloading() && world.is_labelled(); }));
  CHECK(core::is_of_selection(*world.offloading()));
  CHECK(kube::string_at(world.offloading()->spec(), {"podOffloadingStrategy"}) == "Remote");
  CHECK_FALSE(world.offloading("office"));
  world.pass(5s);
  const auto writes = world.writes();
  world.pass(10min);
  CHECK(world.writes() - writes < 200);  // renewals of the lease, and nothing about the namespace

  // It is removed by hand, and the labels still select the namespace.
  const std::string first(world.offloading()->uid());
  static_cast<void>(world.server.remove(kinds::namespace_offloadings, {std::string(shop), "offloading"}, {}, "user"));
  REQUIRE(world.reaches([&] { return world.offloading() && world.offloading()->uid() != first; }));

  world.relabel("sales");
  REQUIRE(world.reaches([&] { return !world.offloading() && !world.is_labelled(); }));
  world.relabel("ml");
  CHECK(world.reaches([&] { return world.offloading() && world.is_labelled(); }));
}

TEST_CASE("nothing is taken back by a cache that is behind the labels") {
  Selecting world;
  world.make_namespace(shop, "sales");
  world.pass(5s);
  world.link.set_faults({.stalled = 1, .stalled_by = 24h});
  world.relabel("ml");
  world.pass(1s);
  world.link.set_faults({});
  // The previous leader has seen them.
  const auto selection = Selecting::settings("team=ml").namespaces.selected_namespaces;
  REQUIRE(
      world.server.create(kinds::namespace_offloadings, selection.forge_offloading(shop).tree(), "other").has_value());
  const std::string uid(world.offloading()->uid());
  world.pass(1min);
  REQUIRE(world.offloading());
  CHECK(world.offloading()->uid() == uid);
}

TEST_CASE("what was offloaded by hand is left alone, with the labels and without") {
  Selecting world;
  world.make_namespace(shop, "sales");
  kube::Object by_hand = kube::Object::make(kinds::namespace_offloadings, {std::string(shop), "offloading"});
  by_hand.mutable_spec()["podOffloadingStrategy"] = "LocalAndRemote";
  world.apply(kinds::namespace_offloadings, by_hand);
  const std::string uid(world.offloading()->uid());
  for (const char* team : {"ml", "sales"}) {
    world.relabel(team);
    world.pass(1min);
    REQUIRE(world.offloading());
    CHECK(world.offloading()->uid() == uid);
    CHECK(kube::string_at(world.offloading()->spec(), {"podOffloadingStrategy"}) == "LocalAndRemote");
    CHECK_FALSE(core::is_of_selection(*world.offloading()));
  }
}

TEST_CASE("another selector takes back what the one before it has offloaded, and none at all leaves it") {
  Selecting world;
  world.make_namespace(shop, "ml");
  REQUIRE(world.reaches([&] { return world.offloading().has_value(); }));
  world.stop();
  world.start();
  world.pass(5min);
  CHECK(world.offloading());
  world.stop();
  world.start(Selecting::settings("team=ai"));
  CHECK(world.reaches([&] { return !world.offloading(); }));
}

TEST_CASE("namespaces that stay in this cluster are told, whatever labels they get") {
  Selecting world;
  world.make_namespace("kube-system", "ml");
  world.make_namespace("liqo", "ml");
  REQUIRE(world.reaches([&] { return world.events("NotOffloaded").size() == 2; }));
  CHECK(world.events("NotOffloaded")[0].starts_with("the labels are those of --offload-namespaces (team=ml), but "));
  CHECK_FALSE(world.offloading("kube-system"));
  CHECK_FALSE(world.offloading("liqo"));
}

}  // namespace liqo::testing
