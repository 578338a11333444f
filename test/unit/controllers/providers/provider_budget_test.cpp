// What one provider may cost: a flood of objects ends its own reading, and a flood of changes writes at an even pace.
#include "controllers/providers/provider_budget.hpp"

#include <doctest/doctest.h>

#include "kube/runtime/informer_set.hpp"
#include "kube/testing/sim_link.hpp"
#include "kube/testing/virtual_clock.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
using controllers::WriteBudget;

/// A provider with an informer of the ConfigMaps of one twin.
struct Provider {
  Provider(kube::testing::Simulator& sim, kube::Metrics& metrics, std::string name, std::shared_ptr<kube::StoreUse> use)
      : server(sim.clock()),
        link(sim, server, "liqod"),
        transport(link),
        api(transport, sim.clock(), random, metrics, {.cluster = std::move(name)}),
        budget(std::move(use), [this] { ++told; }),
        set(sim.executor(), api, metrics, &budget),
        config_maps(set.acquire({.resource = kube::resources::config_maps, .ns = "shop-rome"})),
        simulator(sim),
        group(sim.executor()) {
    group.spawn(set.run());
  }
  ~Provider() { simulator.run(group.stop()); }

  void add(int number, std::size_t bytes) {
    auto map = kube::Object::make(kube::resources::config_maps, {"shop-rome", "data-" + std::to_string(number)});
    map.tree()["data"] = kube::json::object{{"text", std::string(bytes, 'x')}};
    static_cast<void>(server.create(kube::resources::config_maps, map.tree(), "provider"));
  }

  kube::testing::FakeApiServer server;
  kube::testing::SimLink link;
  kube::testing::SimTransport transport;
  kube::Random random{1};
  kube::Api api;
  int told = 0;
  kube::StoreBudget budget;
  kube::InformerSet set;
  kube::InformerHandle config_maps;
  kube::testing::Simulator& simulator;
  kube::async::TaskGroup group;
};

constexpr std::size_t megabyte = 1u << 20;

}  // namespace

TEST_CASE("what a provider shows beyond its budget is not held, and another provider goes on") {
  kube::testing::Simulator simulator{1};
  kube::Metrics metrics;
  const kube::StoreUse::Limits limits{.bytes = 16 * megabyte, .objects = 1000};
  auto flooded = std::make_shared<kube::StoreUse>(limits, metrics, "flooding");
  {
    Provider flooding(simulator, metrics, "flooding", flooded);
    Provider other(simulator, metrics, "other", std::make_shared<kube::StoreUse>(limits, metrics, "other"));
    other.add(0, 100);
    static_cast<void>(simulator.run_for(1s));
    REQUIRE(flooding.config_maps->has_synced());
    for (int i = 0; i < 100; ++i) flooding.add(i, 300'000);
    static_cast<void>(simulator.run_for(10s));
    CHECK(flooding.budget.is_exceeded());
    CHECK(flooding.told == 1);
    CHECK(flooding.budget.exceeded_by() == "configmaps of shop-rome");
    CHECK(flooding.config_maps->store().bytes() <= limits.bytes + megabyte);
    CHECK(metrics.text().find("kube_store_budget_max_bytes{cluster=\"flooding\"} 16777216") != std::string::npos);

    other.add(1, 100);
    static_cast<void>(simulator.run_for(1s));
    CHECK(other.config_maps->store().size() == 2);
    CHECK_FALSE(other.budget.is_exceeded());
  }
  // What was held is given back with the informers.
  CHECK(flooded->fits());
  CHECK(metrics.text().find("kube_store_budget_bytes{cluster=\"flooding\"} 0") != std::string::npos);
}

TEST_CASE("a list that is longer than the budget ends as well, and so do many small objects") {
  kube::testing::Simulator simulator{1};
  kube::Metrics metrics;
  Provider provider(simulator, metrics, "milan",
                    std::make_shared<kube::StoreUse>(kube::StoreUse::Limits{.bytes = 16 * megabyte, .objects = 50},
                                                     metrics, "milan"));
  for (int i = 0; i < 200; ++i) provider.add(i, 10);
  static_cast<void>(simulator.run_for(10s));
  CHECK(provider.budget.is_exceeded());
  CHECK(provider.config_maps->store().size() == 51);
  CHECK_FALSE(provider.config_maps->has_synced());
}

TEST_CASE("writes go at once until the burst is spent, then at an even pace") {
  kube::testing::VirtualClock clock;
  WriteBudget budget(clock, 100, 50, {});
  for (int i = 0; i < 50; ++i) CHECK(budget.reserve() == 0s);
  CHECK(budget.reserve() == 10ms);
  CHECK(budget.reserve() == 20ms);
  clock.advance_to(clock.now() + 100ms);
  CHECK(budget.reserve() == 0s);
  // No more than the burst is ever saved.
  clock.advance_to(clock.now() + 1h);
  for (int i = 0; i < 50; ++i) CHECK(budget.reserve() == 0s);
  CHECK(budget.reserve() == 10ms);
}

TEST_CASE("what may be left out is written while there are tokens") {
  kube::testing::VirtualClock clock;
  WriteBudget budget(clock, 0.5, 10, {});
  for (int i = 0; i < 10; ++i) CHECK(budget.try_take());
  for (int i = 0; i < 10; ++i) CHECK_FALSE(budget.try_take());
  clock.advance_to(clock.now() + 2s);
  CHECK(budget.try_take());
  CHECK_FALSE(budget.try_take());
}

}  // namespace liqo::testing
