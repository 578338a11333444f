// Series: whose they are, and when they go.
#include "kube/telemetry/metrics.hpp"

#include <doctest/doctest.h>

using namespace kube;

namespace {

constexpr MetricFamily lasting{MetricType::counter, "lasting_total", "Stays.", {"peer"}};
constexpr MetricFamily passing{MetricType::counter, "passing_total", "Goes.", {"peer"}, SeriesLife::handles};
constexpr MetricFamily size{MetricType::gauge, "size", "Goes, too.", {"peer"}, SeriesLife::handles};

bool shows(const Metrics& metrics, const std::string& line) { return metrics.text().find(line) != std::string::npos; }

}  // namespace

TEST_CASE("a series lives as long as the process, or as those who count in it") {
  Metrics metrics;
  metrics.counter(lasting, {{"peer", "milan"}}).add();
  CHECK(shows(metrics, "lasting_total{peer=\"milan\"} 1"));
  {
    Counter one = metrics.counter(passing, {{"peer", "milan"}});
    one.add();
    {
      Counter other = metrics.counter(passing, {{"peer", "milan"}});
      const Counter another = metrics.counter(passing, {{"peer", "turin"}});
      other.add();
      CHECK(shows(metrics, "passing_total{peer=\"turin\"} 0"));
    }
    CHECK(shows(metrics, "passing_total{peer=\"milan\"} 2"));
    CHECK_FALSE(shows(metrics, "turin"));
  }
  CHECK_FALSE(shows(metrics, "passing_total{"));
  // Who comes back counts anew.
  Counter again = metrics.counter(passing, {{"peer", "milan"}});
  again.add();
  CHECK(shows(metrics, "passing_total{peer=\"milan\"} 1"));
}

TEST_CASE("a handle may outlive its registry") {
  Counter left;
  Metrics::Reading reading;
  {
    Metrics metrics;
    left = metrics.counter(passing, {{"peer", "milan"}});
    reading = metrics.sample(size, {{"peer", "milan"}}, [] { return 1.0; });
  }
  left.add();
  CHECK(left.value() == 1);
}

TEST_CASE("what is asked at a scrape is the largest of those that are equal, and goes with the last") {
  Metrics metrics;
  double small = 1, large = 5;
  auto first = metrics.sample(size, {{"peer", "milan"}}, [&] { return small; });
  auto second = metrics.sample(size, {{"peer", "milan"}}, [&] { return large; });
  const auto other = metrics.sample(size, {{"peer", "turin"}}, [] { return 3.0; });
  CHECK(shows(metrics, "size{peer=\"milan\"} 5"));
  CHECK(shows(metrics, "size{peer=\"turin\"} 3"));
  large = 0;
  CHECK(shows(metrics, "size{peer=\"milan\"} 1"));
  first.reset();
  CHECK(shows(metrics, "size{peer=\"milan\"} 0"));
  second.reset();
  CHECK_FALSE(shows(metrics, "milan"));
}

TEST_CASE("a set of gauges shows exactly what it was told last, of what is known at the scrape") {
  Metrics metrics;
  GaugeSet sizes(metrics, size);
  std::map<Labels, double> now{{{{"peer", "milan"}}, 1}, {{{"peer", "turin"}}, 2}};
  const auto reading = metrics.on_scrape([&] { sizes.show(now); });
  CHECK(shows(metrics, "size{peer=\"turin\"} 2"));
  now = {{{{"peer", "milan"}}, 7}};
  CHECK(shows(metrics, "size{peer=\"milan\"} 7"));
  CHECK_FALSE(shows(metrics, "turin"));
}
