// The usage of a node as metrics-server, Prometheus and readers of statistics get it.
#include "kubelet/usage_texts.hpp"

#include <doctest/doctest.h>

#include "kube/wire/metrics_text.hpp"

namespace {

using namespace liqo::kubelet;
using namespace liqo::core;

const kube::ObjectKey web{"shop", "web"};

UsageByPod usage_of_web() {
  UsageByPod by_pod;
  PodUsage& pod = by_pod[web];
  pod.own[Measure::cpu] = Reading{1'500'000'001, 1'700'000'000'123};
  pod.own[Measure::memory] = Reading{4096, 1'700'000'000'123};
  Usage& main = pod.containers["main"];
  main[Measure::cpu] = Reading{2'000'000'000, 1'700'000'000'100};
  main[Measure::memory] = Reading{2048, 1'700'000'000'100};
  main[Measure::started] = Reading{1'699'999'990'250, 1'700'000'000'100};
  return by_pod;
}

std::string whole(ResourceText text) {
  std::string all;
  for (std::string piece = text.next(); !piece.empty(); piece = text.next()) all += piece;
  return all;
}

}  // namespace

TEST_CASE("figures are told by families, with their times, the node last") {
  const UsageByPod by_pod = usage_of_web();
  const std::string text = whole({by_pod, {.cpu = 7'000'000'000, .rate = {}, .memory = 4096, .at = 1'700'000'000'123}});
  const char* const samples[] = {
      "container_cpu_usage_seconds_total{container=\"main\",namespace=\"shop\",pod=\"web\"} 2 1700000000100\n",
      "container_memory_working_set_bytes{container=\"main\",namespace=\"shop\",pod=\"web\"} 2048 1700000000100\n",
      "container_start_time_seconds{container=\"main\",namespace=\"shop\",pod=\"web\"} 1699999990.25\n",
      "pod_cpu_usage_seconds_total{namespace=\"shop\",pod=\"web\"} 1.500000001 1700000000123\n",
      "pod_memory_working_set_bytes{namespace=\"shop\",pod=\"web\"} 4096 1700000000123\n",
      "node_cpu_usage_seconds_total 7 1700000000123\n",
      "node_memory_working_set_bytes 4096 1700000000123\n",
      "resource_scrape_error 0\n",
      "scrape_error 0\n",
  };
  std::size_t at = 0;
  for (const char* sample : samples) {
    CAPTURE(sample);
    const std::size_t found = text.find(sample);
    REQUIRE(found != std::string::npos);
    CHECK(found >= at);
    at = found;
  }
  CHECK(text.contains("# TYPE container_start_time_seconds gauge\n"));
  // A family without values is not begun.
  CHECK_FALSE(text.contains("swap"));
}

TEST_CASE("the figures of many pods come in pieces, and each line is one that can be read") {
  UsageByPod by_pod;
  for (int i = 0; i < 2000; ++i) by_pod[{"shop", "pod-" + std::to_string(i)}] = usage_of_web().at(web);
  ResourceText text(by_pod, {.cpu = 1000, .rate = {}, .memory = 1, .at = 1});
  std::size_t samples = 0, pieces = 0;
  kube::wire::MetricLines lines;
  for (std::string piece = text.next(); !piece.empty(); piece = text.next()) {
    ++pieces;
    CHECK(piece.size() < 40U * 1024);
    for (const std::string& line : lines.feed(piece)) {
      if (kube::wire::parse_metric_sample(line))
        ++samples;
      else
        CHECK(line.starts_with("# "));
    }
  }
  CHECK(pieces > 10);
  CHECK(samples == 2000U * 5 + 4);
}

TEST_CASE("statistics of an idle node and of a pod that was seen once") {
  const auto node =
      node_statistics("milan", "2026-01-01T00:00:00Z", {.cpu = 1000, .rate = 0, .memory = 1, .at = 1'700'000'000'999});
  CHECK(node == kube::parse_json(R"({"nodeName": "milan", "startTime": "2026-01-01T00:00:00Z",
      "cpu": {"time": "2023-11-14T22:13:20Z", "usageNanoCores": 0, "usageCoreNanoSeconds": 1000},
      "memory": {"time": "2023-11-14T22:13:20Z", "usageBytes": 1, "workingSetBytes": 1}})")
                    .value()
                    .as_object());
  const kube::Object pod(kube::parse_json(R"({"metadata": {"name": "web", "namespace": "shop", "uid": "u",
      "creationTimestamp": "2023-11-14T22:00:00Z"}, "status": {"startTime": "2023-11-14T22:00:01Z"}})")
                             .value()
                             .as_object());
  const auto entry = pod_statistics(pod, usage_of_web().at(web), NodeUsage());
  CHECK(entry == kube::parse_json(R"({"podRef": {"name": "web", "namespace": "shop", "uid": "u"},
      "startTime": "2023-11-14T22:00:01Z",
      "containers": [{"name": "main", "startTime": "2023-11-14T22:13:10Z",
        "cpu": {"time": "2023-11-14T22:13:20Z", "usageCoreNanoSeconds": 2000000000},
        "memory": {"time": "2023-11-14T22:13:20Z", "usageBytes": 2048, "workingSetBytes": 2048}}],
      "cpu": {"time": "2023-11-14T22:13:20Z", "usageCoreNanoSeconds": 1500000001},
      "memory": {"time": "2023-11-14T22:13:20Z", "usageBytes": 4096, "workingSetBytes": 4096}})")
                     .value()
                     .as_object());
}
