// Lines of the metrics of kubelets, of which only those of the pods of one node get through.
#include "core/usage/own_lines.hpp"

#include <doctest/doctest.h>

namespace {

using namespace liqo::core;

std::string filtered(std::initializer_list<const char*> lines) {
  OwnLines own([](const kube::ObjectKey& pod) { return pod == kube::ObjectKey{"shop", "web"} ? "u-web" : ""; },
               kube::WallTime(std::chrono::milliseconds(1'700'000'000'000)));
  std::string text;
  for (const char* line : lines) text += own.take(line);
  return text;
}

}  // namespace

TEST_CASE("samples of the node's pods are kept, with the type of their family before the first") {
  CHECK(filtered({"# HELP seconds What the provider says of it", "# TYPE seconds histogram",
                  R"(seconds_bucket{le="+Inf",namespace="other",pod="web"} 1)",
                  R"(seconds_bucket{le="+Inf",namespace="shop",pod="web"} 2 1699999999000)",
                  R"(seconds_count{ namespace = "shop", pod="web", } 2)", "# TYPE seconds histogram",
                  R"(seconds_sum{namespace="shop",pod="web"} NaN)", "# TYPE other gauge",
                  R"(third{namespace="shop",pod="web"} 1)"}) ==
        "# TYPE seconds histogram\n"
        "seconds_bucket{le=\"+Inf\",namespace=\"shop\",pod=\"web\"} 2 1699999999000\n"
        "seconds_count{namespace=\"shop\",pod=\"web\"} 2\n"
        "seconds_sum{namespace=\"shop\",pod=\"web\"} NaN\n"
        "third{namespace=\"shop\",pod=\"web\"} 1\n");
}

TEST_CASE("the UID of a pod is the one that it has at home") {
  CHECK(filtered({R"(prober_probe_total{namespace="shop",pod="web",pod_uid="there"} 3)"}) ==
        "prober_probe_total{namespace=\"shop\",pod=\"web\",pod_uid=\"u-web\"} 3\n");
}

TEST_CASE("what is of nobody here, or breaks a scrape, is left out") {
  for (const char* line :
       {"", "# EOF", "# a comment", "up 1", R"(up{pod="web"} 1)", R"(up{namespace="shop"} 1)",
        R"(up{namespace="shop",pod="other"} 1)", R"(up{namespace="shop",pod="web",namespace="shop"} 1)",
        R"(up{namespace="shop",pod="web\"} 1)", R"(up{namespace="shop",pod="web"} one)",
        R"(up{namespace="shop",pod="web"} 1 1700000700000)", R"(up{namespace="shop",pod="web"} 1 # {} 1)",
        "up{namespace=\"shop\",pod=\"web\",x=\"\xff\"} 1", "node_cpu_usage_seconds_total 5"}) {
    CAPTURE(line);
    CHECK(filtered({line}).empty());
  }
}
