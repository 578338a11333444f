// The budget of one provider: a flood of objects ends only its own reading, and a flood of changes writes at an even
// pace.
#include "controllers/links/provider_budget.hpp"

#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/virtual_clock.hpp"
#include "telemetry/families.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
using controllers::TokenBucket;
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
  // The memory is given back with the informers.
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

TEST_CASE("tokens go at once until the burst is spent, then at an even pace") {
  kube::testing::VirtualClock clock;
  TokenBucket budget(clock, {.per_second = 100, .burst = 50});
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
  TokenBucket budget(clock, {.per_second = 0.5, .burst = 10});
  for (int i = 0; i < 10; ++i) CHECK(budget.try_take());
  for (int i = 0; i < 10; ++i) CHECK_FALSE(budget.try_take());
  CHECK(budget.lacks() == 2s);
  clock.advance_to(clock.now() + 2s);
  CHECK(budget.try_take());
  CHECK_FALSE(budget.try_take());
}

namespace {

constexpr TokenBucket::Rate any_number{.per_second = 1e6, .burst = 1e6};

/// The number of writes of that size that pass in that time, one after another.
std::size_t written(std::size_t bytes, kube::Duration time, TokenBucket::Rate writes = any_number) {
  kube::testing::VirtualClock clock;
  WriteBudget budget(clock, writes, {});
  const kube::TimePoint end = clock.now() + time;
  std::size_t count = 0;
  while (clock.now() < end) {
    const kube::Duration wait = budget.take_now({.bytes = bytes});
    if (wait == 0s) ++count;
    clock.advance_to(clock.now() + std::max<kube::Duration>(wait, 100us));
  }
  return count;
}

}  // namespace

TEST_CASE("writes are weighed: what is small costs nothing, and a minute of large ones stays below 50 MiB") {
  constexpr std::size_t kib = 1 << 10;
  CHECK(written(megabyte, 1min) * megabyte < 50 * megabyte);
  CHECK(written(megabyte, 1min) > 40);
  CHECK(written(64 * kib, 1min) * 64 * kib < 55 * megabyte);
  // Of 10 KiB only 2 KiB count, of 1 MiB nearly all.
  CHECK(written(10 * kib, 1min) > 100 * written(megabyte, 1min));
  // A pod with its status has some KiB: it waits only for its turn.
  CHECK(written(8 * kib, 1s) == 10'000);
  CHECK(written(4 * kib, 10s, {.per_second = 100, .burst = 5'000}) == doctest::Approx(6'000).epsilon(0.01));
}

TEST_CASE("a thousand pods that start at once write their statuses without a pause for bytes") {
  kube::testing::VirtualClock clock;
  kube::Metrics metrics;
  const auto bytes = metrics.counter(families::bytes_delayed, {{"cluster_id", "milan"}});
  WriteBudget budget(clock, {.per_second = 100, .burst = 5'000}, {.writes = {}, .bytes = bytes});
  // Pods as operators make them: with injected containers, and four statuses until they run.
  for (int i = 0; i < 4'000; ++i) CHECK(budget.take_now({.bytes = 12 << 10}) == 0s);
  CHECK(bytes.value() == 0);
  CHECK(budget.take_now({.bytes = megabyte}) > 0s);
  CHECK(bytes.value() == double(megabyte - WriteBudget::free_bytes));
}

TEST_CASE("large writes have their turns in order, and what is small passes them") {
  kube::testing::VirtualClock clock;
  WriteBudget budget(clock, any_number, {});
  for (int i = 0; i < 16; ++i) CHECK(budget.take_now({.bytes = megabyte}) == 0s);
  const kube::Duration first = budget.reserve({.bytes = megabyte}), second = budget.reserve({.bytes = megabyte});
  CHECK(first > 1s);
  CHECK(first < 2s);
  CHECK(second - first > 1900ms);
  CHECK(second - first <= 2s);
  CHECK(budget.reserve({.bytes = 8 << 10}) == 0s);
  CHECK(budget.take_now({.bytes = megabyte}) > second);
}

TEST_CASE("a write that is given up while it waits takes nothing from those behind it") {
  kube::testing::Simulator simulator{1};
  WriteBudget budget(simulator.clock(), any_number, {});
  for (int i = 0; i < 16; ++i) CHECK(budget.take_now({.bytes = megabyte}) == 0s);
  for (int i = 0; i < 20; ++i) {
    kube::async::TaskGroup group(simulator.executor());
    group.spawn(budget.take({.bytes = megabyte}));
    simulator.run(group.stop());
  }
  bool done = false;
  kube::async::TaskGroup group(simulator.executor());
  group.spawn([](WriteBudget& of, bool& taken) -> boost::asio::awaitable<void> {
    co_await of.take({.bytes = megabyte});
    taken = true;
  }(budget, done));
  CHECK(simulator.run_until([&] { return done; }, 3s) == kube::testing::Simulator::End::reached);
  simulator.run(group.stop());
}

TEST_CASE("the metrics show a provider as long as somebody has to do with it, and what it has used comes back") {
  ClusterFixture milan("milan");
  milan.start();
  controllers::Context context = milan.process().context();
  controllers::ProviderBudgets budgets(context);
  kube::async::TaskGroup group(context.executor);
  group.spawn(budgets.run());
  auto budget = budgets.of("rome");
  auto account = context.accounts.of("rome");
  const auto is_shown = [&] {
    return context.metrics.text().contains("{cluster=\"rome\"}") ||
           context.metrics.text().contains("{cluster_id=\"rome\"}");
  };
  CHECK(is_shown());
  while (budget->corrections.try_take()) continue;
  budget.reset();
  account.reset();
  // A provider that comes back meanwhile finds its budget as it was.
  milan.pass(1min);
  CHECK(is_shown());
  CHECK_FALSE(budgets.of("rome")->corrections.is_full());
  milan.pass(20min);
  CHECK_FALSE(is_shown());
  milan.simulator.run(group.stop());
  milan.stop();
}

}  // namespace liqo::testing
