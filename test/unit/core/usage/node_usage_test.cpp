// The usage of a node: the sum of its pods, never falling, whatever the provider reports.
#include "core/usage/node_usage.hpp"

#include <doctest/doctest.h>

#include <set>

namespace {

using namespace liqo::core;

constexpr std::uint64_t second = 1'000'000'000;

/// A node, with the clock of its provider, which goes as ours does, five seconds late.
struct World {
  std::set<std::string> pods{"one", "two"};
  NodeUsage usage;
  UsageByPod by_pod;
  std::int64_t seconds = 1'700'000'000;

  std::int64_t there() const { return (seconds - 5) * 1000; }
  static kube::ObjectKey key(const std::string& pod) { return {"shop", pod}; }

  void uses(const std::string& pod, std::uint64_t cpu_seconds, std::uint64_t memory = 0) {
    by_pod[key(pod)].own[Measure::cpu] = Reading{cpu_seconds * second, there()};
    if (memory > 0) by_pod[key(pod)].own[Measure::memory] = Reading{memory, there()};
  }
  void container_uses(const std::string& pod, const std::string& container, std::uint64_t cpu_seconds,
                      std::int64_t age = -1) {
    Usage& of_container = by_pod[key(pod)].containers[container];
    of_container[Measure::cpu] = Reading{cpu_seconds * second, there()};
    if (age >= 0) of_container[Measure::started] = Reading{static_cast<std::uint64_t>(there() - age * 1000), there()};
  }
  /// Takes what was reported, and goes on.
  const NodeReading& see(std::int64_t pause = 15) {
    usage.take(
        by_pod,
        [this](const kube::ObjectKey& pod) { return pods.contains(pod.name) ? "u-" + pod.name : std::string(); },
        kube::WallTime(std::chrono::seconds(seconds)));
    by_pod.clear();
    seconds += pause;
    return usage.node();
  }
};

}  // namespace

TEST_CASE("a node uses what its pods use, and keeps what those have used that have ended") {
  World world;
  world.uses("one", 100, 10'000'000);
  world.uses("two", 20, 100'000'000);
  const NodeReading first = world.see();
  CHECK(first.cpu == 120 * second);
  CHECK(first.memory == 110'000'000);
  CHECK(first.at == (1'700'000'000LL - 5) * 1000);
  CHECK_FALSE(first.rate.has_value());

  world.uses("one", 103);
  world.uses("two", 27, 100'000'000);
  const NodeReading second_look = world.see();
  CHECK(second_look.cpu == 130 * second);
  CHECK(second_look.rate == 666'666'666);
  CHECK(world.usage.rate(World::key("one")) == second / 5);
  CHECK(world.usage.rate(World::key("two")).value() == 466'666'666);

  world.pods.erase("two");
  world.uses("one", 104);
  const NodeReading third = world.see();
  CHECK(third.cpu == 131 * second);
  CHECK(third.memory == 1);
  CHECK(world.usage.pods() == 1);
  CHECK_FALSE(world.usage.rate(World::key("two")).has_value());
}

TEST_CASE("the sum of rates: 0.2 and 0.5 cores are 700 million nanocores") {
  World world;
  world.uses("one", 0, 10'000'000);
  world.uses("two", 0, 100'000'000);
  world.see(10);
  world.uses("one", 2, 10'000'000);
  world.uses("two", 5, 100'000'000);
  CHECK(world.see().rate == 700'000'000);
  CHECK(world.usage.node().memory == 110'000'000);
}

TEST_CASE("an idle node is shown, with the least that metrics-server does not take for nothing") {
  World world;
  world.pods.clear();
  const NodeReading first = world.see();
  CHECK(first.cpu > 0);
  CHECK(first.memory > 0);
  CHECK(first.rate == 0);
  const NodeReading next = world.see();
  CHECK(next.at == first.at + 15'000);
  CHECK(next.cpu == first.cpu);
}

TEST_CASE("time does not go back where the provider's clock is behind, nor does the count") {
  World world;
  world.pods.clear();
  const NodeReading idle = world.see(1);
  world.pods = {"one"};
  world.container_uses("one", "main", 3, 4);
  const NodeReading busy = world.see();
  CHECK(busy.at == idle.at);
  CHECK(busy.cpu >= idle.cpu);
}

TEST_CASE("a container that starts anew counts from zero, one that ends takes nothing away") {
  World world;
  world.container_uses("one", "main", 100, 1000);
  world.container_uses("one", "side", 50, 1000);
  CHECK(world.see().cpu == 150 * second);
  world.container_uses("one", "main", 4, 4);
  world.container_uses("one", "side", 51, 1015);
  CHECK(world.see().cpu == 155 * second);
  world.container_uses("one", "main", 6, 19);
  CHECK(world.see().cpu == 157 * second);
  CHECK(world.usage.rate(World::key("one"), "main") == 2 * second / 15);
  CHECK_FALSE(world.usage.rate(World::key("one"), "side").has_value());
}

TEST_CASE("what comes to be seen late does not look like a thousand cores") {
  World world;
  world.uses("one", 10);
  world.see();
  // Seen for the first time: what began since counts, what has run for long counts from now on.
  world.uses("one", 11);
  world.container_uses("two", "main", 36'000, 36'000);
  CHECK(world.see().cpu == 11 * second);
  world.uses("one", 12);
  world.container_uses("two", "main", 36'015, 36'015);
  CHECK(world.see().cpu == 27 * second);
  world.pods.insert("three");
  world.container_uses("three", "main", 8, 9);
  CHECK(world.see(600).cpu == 35 * second);
  // Silent for ten minutes and more: one look's share of it.
  world.uses("one", 12);
  world.see();
  world.container_uses("two", "main", 36'660, 36'660);
  const std::uint64_t before = world.usage.node().cpu;
  const std::uint64_t after = world.see().cpu;
  CHECK(after > before);
  CHECK(after - before <= 16 * second);
}

TEST_CASE("a pod of the same name that is another one is reckoned for itself") {
  World world;
  world.uses("one", 100);
  world.see();
  std::string uid = "u-new";
  world.by_pod.clear();
  world.container_uses("one", "main", 2, 3);
  world.usage.take(
      world.by_pod, [&](const kube::ObjectKey&) { return uid; }, kube::WallTime(std::chrono::seconds(world.seconds)));
  CHECK(world.usage.node().cpu == 102 * second);
}

TEST_CASE("an older look that comes late, and the same one twice, change nothing") {
  World world;
  world.uses("one", 100);
  world.see(0);
  world.uses("one", 100);
  CHECK(world.see().cpu == 100 * second);
  world.uses("one", 115);
  CHECK(world.see().cpu == 115 * second);
  world.by_pod[World::key("one")].own[Measure::cpu] = Reading{100 * second, world.there() - 40'000};
  CHECK(world.see().cpu == 115 * second);
  CHECK(world.usage.rate(World::key("one")) == second);
}

TEST_CASE("counts that jump are no rates, and no sum overflows") {
  World world;
  world.uses("one", 0);
  world.see();
  world.uses("one", 9'000'000'000);
  world.see();
  CHECK_FALSE(world.usage.rate(World::key("one")).has_value());
  std::uint64_t before = 0;
  for (int i = 0; i < 10; ++i) {
    world.uses("one", i % 2 == 0 ? 0 : 9'000'000'000);
    world.uses("two", 9'000'000'000);
    const std::uint64_t now = world.see().cpu;
    CHECK(now >= before);
    before = now;
  }
}
