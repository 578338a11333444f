#include "widget_controller.hpp"

#include <doctest/doctest.h>

#include "kube/testing/link/sim_link.hpp"

using namespace kube;

namespace {

/// Two processes of the controller, of which one leads, over a network that loses answers.
struct World {
  World() : server(simulator.clock()), group(simulator.executor(), async::TaskGroup::OnFailure::keep_others) {
    server.serve(example::widgets);
    for (const char* name : {"first", "second"}) {
      links.push_back(std::make_unique<testing::SimLink>(simulator, server, name));
      links.back()->set_faults({.lost_answer = 0.1, .conflict = 0.1, .watch_life = std::chrono::seconds(5)});
      transports.push_back(std::make_unique<testing::SimTransport>(*links.back()));
      const auto source = [](const Resource&, std::string_view) { return std::string("test"); };
      managers.push_back(std::make_unique<Manager>(
          Environment{simulator.executor(), simulator.clock(), simulator.random(), metrics}, *transports.back(),
          ManagerSettings{.cluster = "fake",
                          .source = source,
                          .election = LeaderElectionSettings{.lease = {"shop", "widgets"}, .identity = name}}));
      controllers.push_back(std::make_unique<example::WidgetController>(*managers.back()));
      group.spawn(managers.back()->run());
    }
    json::object shop{{"metadata", json::object{{"name", "shop"}}}};
    REQUIRE(server.create(resources::namespaces, std::move(shop), "test").has_value());
  }
  ~World() { simulator.run(group.stop()); }

  bool reaches(const std::function<bool()>& holds) {
    return simulator.run_until(holds, std::chrono::minutes(10)) == testing::Simulator::End::reached;
  }
  std::string colour() {
    const auto map = server.get(resources::config_maps, key);
    return map ? std::string(string_at(*map, {"data", "colour"})) : "";
  }
  bool is_ready() {
    const auto widget = server.get(example::widgets, key);
    return widget && bool_at(*widget, {"status", "ready"}) &&
           int_at(*widget, {"status", "observedGeneration"}) == int_at(*widget, {"metadata", "generation"});
  }

  const ObjectKey key{"shop", "lamp"};
  testing::Simulator simulator{11};
  testing::FakeApiServer server;
  Metrics metrics;
  std::vector<std::unique_ptr<testing::SimLink>> links;
  std::vector<std::unique_ptr<testing::SimTransport>> transports;
  std::vector<std::unique_ptr<Manager>> managers;
  std::vector<std::unique_ptr<example::WidgetController>> controllers;
  async::TaskGroup group;
};

}  // namespace

TEST_CASE("a Widget has its ConfigMap, says so, and goes with it, whoever leads") {
  World world;
  json::object lamp{{"metadata", json::object{{"name", "lamp"}, {"namespace", "shop"}}},
                    {"spec", json::object{{"colour", "red"}}}};
  REQUIRE(world.server.create(example::widgets, std::move(lamp), "test").has_value());
  CHECK(world.reaches([&] { return world.colour() == "red" && world.is_ready(); }));
  // The ConfigMap is deleted, and the process that leads loses its network.
  REQUIRE(world.server.remove(resources::config_maps, world.key, {}, "test").has_value());
  world.links[world.managers[0]->leadership().is_leader() ? 0 : 1]->partition();
  CHECK(world.reaches([&] { return world.colour() == "red"; }));
  for (auto& link : world.links) link->heal();
  REQUIRE(world.server
              .update(
                  {example::widgets, world.key},
                  [](json::object& widget) { widget["spec"].as_object()["colour"] = "blue"; }, "test")
              .has_value());
  CHECK(world.reaches([&] { return world.colour() == "blue" && world.is_ready(); }));
  REQUIRE(world.server.remove(example::widgets, world.key, {}, "test").has_value());
  CHECK(world.reaches([&] { return !world.server.get(example::widgets, world.key); }));
  CHECK(world.colour().empty());
}
