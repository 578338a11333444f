#include "pod_counter.hpp"

#include <doctest/doctest.h>

#include "kube/testing/link/sim_link.hpp"

using namespace kube;

namespace {

json::object pod(const char* name) {
  return {{"metadata", json::object{{"name", name}, {"namespace", "shop"}}},
          {"spec", json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "busybox"}}}}}}};
}

}  // namespace

TEST_CASE("the example keeps the count of pods right through a bad network") {
  testing::Simulator simulator(7);
  testing::FakeApiServer server(simulator.clock());
  testing::SimLink link(simulator, server, "pod-counter");
  link.set_faults({.lost_answer = 0.1, .failing = 0.1, .conflict = 0.1, .watch_life = std::chrono::seconds(3)});
  testing::SimTransport transport(link);
  Metrics metrics;
  Manager manager({simulator.executor(), simulator.clock(), simulator.random(), metrics}, transport,
                  {.cluster = "fake", .source = {}});
  const example::PodCounter counter(manager);
  async::TaskGroup group(simulator.executor());
  group.spawn(manager.run());

  const auto counted = [&] {
    const auto ns = server.get(resources::namespaces, {"", "shop"});
    return ns ? std::string(string_at(*ns, {"metadata", "annotations", example::PodCounter::annotation}))
              : std::string();
  };
  json::object shop{{"metadata", json::object{{"name", "shop"}}}};
  REQUIRE(server.create(resources::namespaces, std::move(shop), "test").has_value());
  for (const char* name : {"a", "b", "c"}) REQUIRE(server.create(resources::pods, pod(name), "test").has_value());
  CHECK(simulator.run_until([&] { return counted() == "3"; }, std::chrono::minutes(10)) ==
        testing::Simulator::End::reached);
  REQUIRE(server.remove(resources::pods, {"shop", "b"}, {.grace_period_seconds = 0}, "test").has_value());
  CHECK(simulator.run_until([&] { return counted() == "2"; }, std::chrono::minutes(10)) ==
        testing::Simulator::End::reached);
  simulator.run(group.stop());
}
