// The usage of pods as a provider reports it, and what of it is believed.
#include "core/usage/pod_usage.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqo::core;

constexpr kube::WallTime now{std::chrono::milliseconds(1'700'000'000'000)};
const kube::ObjectKey web{"shop", "web"};

std::string uid_of(const kube::ObjectKey& pod) { return pod == web ? "u-web" : ""; }

PodUsageReader reader(std::size_t max_containers = 10) { return PodUsageReader(uid_of, now, max_containers); }

}  // namespace

TEST_CASE("figures of pods of this node are read, each with its time") {
  PodUsageReader read = reader();
  for (const char* line :
       {"# HELP pod_cpu_usage_seconds_total x", "# TYPE pod_cpu_usage_seconds_total counter",
        R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1.5 1699999999000)",
        R"(pod_memory_working_set_bytes{pod="web",namespace="shop"} 4.096e+06 1699999999001)",
        R"(container_cpu_usage_seconds_total{container="main",namespace="shop",pod="web"} 0.25 1699999999002)",
        R"(container_memory_working_set_bytes{container="main",namespace="shop",pod="web"} 1e6)",
        R"(container_start_time_seconds{container="main",namespace="shop",pod="web"} 1.6999e+09 1699999999002)",
        R"(container_cpu_usage_seconds_total{container="side",namespace="shop",pod="web"} 3 1699999998000)"})
    read.take(line);
  REQUIRE(read.by_pod().size() == 1);
  const PodUsage& pod = read.by_pod().at(web);
  CHECK(pod.of(Measure::cpu) == Reading{1'500'000'000, 1'699'999'999'000});
  CHECK(pod.of(Measure::memory) == Reading{4'096'000, 1'699'999'999'001});
  CHECK(pod.containers.at("main")[Measure::cpu] == Reading{250'000'000, 1'699'999'999'002});
  // Without a time it was read now.
  CHECK(pod.containers.at("main")[Measure::memory] == Reading{1'000'000, 1'700'000'000'000});
  CHECK(pod.started() == 1'699'900'000'000);
  CHECK_FALSE(pod.containers.at("side")[Measure::memory].has_value());
}

TEST_CASE("a pod without figures of its own uses what its containers use") {
  PodUsageReader read = reader();
  read.take(R"(container_cpu_usage_seconds_total{container="main",namespace="shop",pod="web"} 2 1699999999002)");
  read.take(R"(container_cpu_usage_seconds_total{container="side",namespace="shop",pod="web"} 3 1699999998000)");
  const PodUsage& pod = read.by_pod().at(web);
  CHECK(pod.of(Measure::cpu) == Reading{5'000'000'000, 1'699'999'999'002});
  CHECK_FALSE(pod.of(Measure::memory).has_value());
  CHECK_FALSE(pod.started().has_value());
}

TEST_CASE("what cannot be, and what is of others, is left out line by line") {
  const char* const lines[] = {
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="other"} 1)",
      R"(pod_cpu_usage_seconds_total{namespace="kube-system",pod="web"} 1)",
      R"(pod_cpu_usage_seconds_total{namespace="shop"} 1)",
      R"(pod_cpu_usage_seconds_total 1)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web",pod="web"} 1)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} NaN)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} +Inf)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} -1)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1e18)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1 1700000601000)",
      R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1 -5)",
      R"(pod_memory_working_set_bytes{namespace="shop",pod="web"} 1e30)",
      R"(container_cpu_usage_seconds_total{namespace="shop",pod="web"} 1)",
      R"(container_cpu_usage_seconds_total{container="a\"b",namespace="shop",pod="web"} 1)",
      R"(container_cpu_usage_seconds_total{container="Main",namespace="shop",pod="web"} 1)",
      R"(container_start_time_seconds{container="main",namespace="shop",pod="web"} 1800000000)",
      R"(node_cpu_usage_seconds_total 7 1699999999000)",
      R"(something_else{namespace="shop",pod="web"} 1)",
  };
  for (const char* line : lines) {
    CAPTURE(line);
    PodUsageReader read = reader();
    read.take(line);
    CHECK(read.by_pod().empty());
  }
  // A clock that is a little ahead is believed.
  PodUsageReader read = reader();
  read.take(R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1 1700000590000)");
  CHECK(read.by_pod().size() == 1);
}

TEST_CASE("a provider that makes up containers costs no more than so many") {
  PodUsageReader read = reader(3);
  for (int i = 0; i < 100; ++i)
    for (int again = 0; again < 2; ++again)
      read.take("container_cpu_usage_seconds_total{container=\"c-" + std::to_string(i) +
                "\",namespace=\"shop\",pod=\"web\"} " + std::to_string(again));
  CHECK(read.by_pod().at(web).containers.size() == 3);
  CHECK(read.by_pod().at(web).containers.at("c-0")[Measure::cpu]->value == 1'000'000'000);
  CHECK(read.held() < 2000);
}

TEST_CASE("sums that pass what a number holds stay the largest number") {
  PodUsageReader read = reader(100);
  for (int i = 0; i < 50; ++i)
    read.take("container_memory_working_set_bytes{container=\"c-" + std::to_string(i) +
              "\",namespace=\"shop\",pod=\"web\"} 1e18");
  CHECK(read.by_pod().at(web).of(Measure::memory)->value == UINT64_MAX);
}
