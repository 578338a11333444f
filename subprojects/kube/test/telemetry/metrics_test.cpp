// Series: whose they are, and when they go.
#include "kube/telemetry/metrics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <vector>

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
  // A series that comes back counts from zero.
  Counter again = metrics.counter(passing, {{"peer", "milan"}});
  again.add();
  CHECK(shows(metrics, "passing_total{peer=\"milan\"} 1"));
}

TEST_CASE("what goes is written as what stays") {
  constexpr MetricFamily counts{MetricType::counter, "stays_counts", "All.", {"b", "a"}};
  constexpr MetricFamily counts_too{MetricType::counter, "leave_counts", "All.", {"b", "a"}, SeriesLife::handles};
  constexpr MetricFamily sizes{MetricType::gauge, "stays_sizes", "All.", {"at"}};
  constexpr MetricFamily sizes_too{MetricType::gauge, "leave_sizes", "All.", {"at"}, SeriesLife::handles};
  constexpr MetricFamily times{MetricType::histogram, "stays_times", "All.", {}};
  constexpr MetricFamily times_too{MetricType::histogram, "leave_times", "All.", {}, SeriesLife::handles};
  Metrics staying, leaving;
  const Labels labels{{"a", "a \"word\",\nand \\"}, {"b", ""}};
  staying.counter(counts, labels).add(3);
  const Counter counted = leaving.counter(counts_too, labels);
  Counter(counted).add(3);
  std::vector<Gauge> kept;
  for (const double value : {0.0, -1.0, 0.1, 2.5e-7, 1e20, 123456789012.0, double(INFINITY), -double(INFINITY)}) {
    const std::string at = std::to_string(kept.size());
    staying.gauge(sizes, {{"at", at}}).set(value);
    kept.push_back(leaving.gauge(sizes_too, {{"at", at}}));
    kept.back().set(value);
  }
  Histogram stays = staying.histogram(times, {}, {0.5, 10}), leaves = leaving.histogram(times_too, {}, {0.5, 10});
  for (const double value : {0.1, 0.7, 99.0}) {
    stays.observe(value);
    leaves.observe(value);
  }
  const auto lines = [](const Metrics& metrics) {
    std::multiset<std::string> found;
    std::istringstream text(metrics.text());
    for (std::string line; std::getline(text, line);) {
      for (const std::string name : {"stays_", "leave_"})
        for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name)) line.replace(at, 6, "_");
      found.insert(line);
    }
    return found;
  };
  CHECK(lines(staying) == lines(leaving));
  CHECK(lines(staying).size() == 2 + 1 + 2 + 8 + 2 + 5);
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
