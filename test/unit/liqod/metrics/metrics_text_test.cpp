#include "metrics/metrics_text.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqod;
using namespace std::chrono_literals;

/// Counts how often the text was written, each time at a price in seconds of CPU.
struct World {
  kube::Metrics metrics;
  int made = 0;
  double price = 0.06, used = 0;
  kube::TimePoint now = kube::TimePoint(1h);
  MetricsText text;

  explicit World(PeerNames names = PeerNames::shown)
      : text(
            metrics,
            [this] {
              ++made;
              used += price;
            },
            names, [this] { return used; }) {
    metrics.counter({kube::MetricType::counter, "questions_total", "One is enough to have a text."});
  }
  int ask(int times) {
    const int before = made;
    for (int i = 0; i < times; ++i) CHECK_FALSE(text.read(now).empty());
    return made - before;
  }
};

constexpr kube::MetricFamily pods{
    kube::MetricType::gauge, "pods", "Pods.", {"cluster_id", "slice"}, kube::SeriesLife::handles};

}  // namespace

TEST_CASE("whoever asks now and then gets what is true now") {
  World world;
  kube::Gauge gauge = world.metrics.gauge(pods, {{"cluster_id", "milan"}, {"slice", "one"}});
  for (int i = 0; i < 100; ++i) {
    gauge.set(i);
    world.now += 1s;
    CHECK(world.text.read(world.now).contains(" " + std::to_string(i) + "\n"));
  }
}

TEST_CASE("a flood of questions takes a tenth of the thread and no more, and is answered") {
  World world;
  world.ask(1);
  // The burst, which is not saved up, is a fifth of a second.
  CHECK(world.ask(1000) == 3);
  for (int second = 0; second < 100; ++second) {
    world.now += 1s;
    world.ask(100);
  }
  CHECK(world.used <= 0.2 + 100 * 0.1 + world.price);
  // An expensive one is paid for before the next.
  world.now += 1min;
  world.price = 3;
  CHECK(world.ask(10) == 1);
  world.now += 20s;
  CHECK(world.ask(10) == 0);
  world.now += 10s;
  CHECK(world.ask(10) == 1);
}

TEST_CASE("a clock that stands still is answered, too") {
  World world;
  world.now = {};
  world.price = 1;
  CHECK(world.ask(2) == 1);
}

TEST_CASE("peers are numbered where nobody may know them, and each keeps its number") {
  World world(PeerNames::numbered);
  const auto milan = world.metrics.gauge(pods, {{"cluster_id", "milan"}, {"slice", "one"}});
  const std::string first = world.text.read(world.now);
  CHECK_FALSE(first.contains("milan"));
  CHECK(first.contains(R"(pods{cluster_id="peer-1",slice="peer-2"})"));
  const auto turin = world.metrics.gauge(pods, {{"cluster_id", "turin"}, {"slice", "one"}});
  const std::string second = world.text.read(world.now);
  CHECK_FALSE(second.contains("turin"));
  CHECK(second.contains(R"(pods{cluster_id="peer-1",slice="peer-2"})"));
  CHECK(second.contains(R"(pods{cluster_id="peer-3",slice="peer-2"})"));
}
