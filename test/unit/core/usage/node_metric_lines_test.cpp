#include "core/usage/node_metric_lines.hpp"

#include <doctest/doctest.h>

using namespace liqo::core;

namespace {

constexpr std::size_t enough = 1 << 20;

/// Two pods of the consumer in one twin, one in another, on that node.
NodeView node(std::string name = "milan-1") {
  return {.name = std::move(name),
          .address = "10.0.0.1",
          .port = 10250,
          .twins = {{"shop-rome", {.original = "shop", .pods = {"web", "db"}}},
                    {"x-rome", {.original = "x", .pods = {"only"}}}}};
}

NodeMetricLines read(std::initializer_list<std::string_view> lines, std::size_t most = enough) {
  NodeMetricLines usage(node(), most);
  for (const std::string_view line : lines) usage.take(line);
  return usage;
}

std::string told(std::initializer_list<std::string_view> lines) {
  const NodeMetricLines one = read(lines);
  return join_metric_lines({&one, 1}, false);
}

}  // namespace

TEST_CASE("only lines of the consumer's pods on that node are told") {
  struct Case {
    const char* title;
    const char* line;
    const char* told;
  };
  for (const Case& c : {
           Case{"its pod", R"(c{container="a",namespace="shop-rome",pod="web"} 4.7 1633)",
                "c{container=\"a\",namespace=\"shop\",pod=\"web\"} 4.7 1633\n"},
           Case{"its other twin", R"(c{pod="only",namespace="x-rome"} 1)", "c{pod=\"only\",namespace=\"x\"} 1\n"},
           Case{"a pod in another twin", R"(c{namespace="x-rome",pod="web"} 1)", ""},
           Case{"a pod that it has not here", R"(c{namespace="shop-rome",pod="web-2"} 1)", ""},
           Case{"another tenant's pod of that name", R"(c{namespace="shop-paris",pod="web"} 1)", ""},
           Case{"a namespace at home that is called so here", R"(c{namespace="shop",pod="web"} 1)", ""},
           Case{"no pod", R"(v{namespace="shop-rome",persistentvolumeclaim="d"} 1)", ""},
           Case{"no namespace", R"(c{pod="web"} 1)", ""},
           Case{"the node itself", "node_cpu_usage_seconds_total 357 1633", ""},
           Case{"the machine", "machine_memory_bytes 8e9", ""},
           Case{"two namespaces", R"(c{namespace="shop-paris",namespace="shop-rome",pod="web"} 1)", ""},
           Case{"a name that is no name", R"(c{namespace="shop-rome\n",pod="web"} 1)", ""},
           Case{"no line at all", "}{", ""},
       }) {
    CAPTURE(c.title);
    CHECK(told({c.line}) == c.told);
  }
}

TEST_CASE("the name at the consumer is escaped") {
  NodeMetricLines usage(
      {.name = "n", .address = "", .port = 0, .twins = {{"t", {.original = "a\"} 1\nb", .pods = {"p"}}}}}, enough);
  usage.take(R"(c{namespace="t",pod="p"} 1)");
  CHECK(join_metric_lines({&usage, 1}, false) == "c{namespace=\"a\\\"} 1\\nb\",pod=\"p\"} 1\n");
}

TEST_CASE("TYPE and HELP are told once for all nodes, and only of families that have lines") {
  const std::initializer_list<std::string_view> lines = {
      "# HELP c Time.",
      "# TYPE c counter",
      R"(c{namespace="shop-rome",pod="web"} 1)",
      "# TYPE other gauge",
      R"(other{namespace="else",pod="web"} 1)",
      "# HELP h Delay.",
      "# TYPE h histogram",
      R"(h_bucket{le="+Inf",namespace="x-rome",pod="only"} 3)",
      R"(h_sum{namespace="x-rome",pod="only"} 2)",
      R"(h_count{namespace="x-rome",pod="only"} 3)",
  };
  const NodeMetricLines nodes[] = {read(lines), read(lines)};
  const std::string c = "c{namespace=\"shop\",pod=\"web\"} 1\n";
  const std::string h =
      "h_bucket{le=\"+Inf\",namespace=\"x\",pod=\"only\"} 3\nh_sum{namespace=\"x\",pod=\"only\"} 2\n"
      "h_count{namespace=\"x\",pod=\"only\"} 3\n";
  std::string expected = "# HELP c Time.\n# TYPE c counter\n";
  expected += c + c + "# HELP h Delay.\n# TYPE h histogram\n" + h + h;
  CHECK(join_metric_lines(nodes, false) == expected);
}

TEST_CASE("a name that ends like a part of a histogram and belongs to none is a family of its own") {
  CHECK(told({"# TYPE c gauge", R"(c_count{namespace="shop-rome",pod="web"} 1)",
              R"(c{namespace="shop-rome",pod="web"} 2)"}) ==
        "# TYPE c gauge\nc{namespace=\"shop\",pod=\"web\"} 2\nc_count{namespace=\"shop\",pod=\"web\"} 1\n");
}

TEST_CASE("the figures of the node are the sums of the consumer's pods, and never the nodes' own") {
  const auto sums = [](std::span<const NodeMetricLines> nodes) {
    const std::string text = join_metric_lines(nodes, true);
    return text.substr(text.find("# HELP node_cpu"));
  };
  const std::string cpu =
      "# HELP node_cpu_usage_seconds_total CPU time of the consumer's pods in seconds, over all nodes\n"
      "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total ";
  const std::string memory =
      "\n# HELP node_memory_working_set_bytes Working set of the consumer's pods in bytes, over all nodes\n"
      "# TYPE node_memory_working_set_bytes gauge\nnode_memory_working_set_bytes ";
  SUBCASE("over two nodes") {
    const NodeMetricLines nodes[] = {read({
                                         "node_cpu_usage_seconds_total 357 99000",
                                         "node_memory_working_set_bytes 8e9 99000",
                                         R"(pod_cpu_usage_seconds_total{namespace="shop-rome",pod="web"} 1.5 5000)",
                                         R"(pod_cpu_usage_seconds_total{namespace="shop-paris",pod="web"} 70 9000)",
                                         R"(pod_memory_working_set_bytes{namespace="shop-rome",pod="db"} 1024 4000)",
                                     }),
                                     read({
                                         R"(pod_cpu_usage_seconds_total{namespace="x-rome",pod="only"} 0.25 6000)",
                                         R"(pod_cpu_usage_seconds_total{namespace="shop-rome",pod="db"} NaN 7000)",
                                         R"(pod_memory_working_set_bytes{namespace="x-rome",pod="only"} 1 3000)",
                                     })};
    CHECK(sums(nodes) == cpu + "1.75 6000" + memory + "1025 4000\n");
  }
  SUBCASE("of nothing") { CHECK(sums({}) == cpu + "0" + memory + "0\n"); }
  SUBCASE("a pod cannot pass for the node") {
    const NodeMetricLines one = read({R"(node_cpu_usage_seconds_total{namespace="shop-rome",pod="web"} 5)"});
    CHECK(join_metric_lines({&one, 1}, true) == cpu + "0" + memory + "0\n");
  }
}

TEST_CASE("what is kept of a node is bounded, and says when it is not the whole") {
  NodeMetricLines lines(node(), 1000);
  for (int i = 0; i < 100; ++i) lines.take(R"(c{namespace="shop-rome",pod="web"} 1)");
  CHECK(lines.is_full());
  CHECK(lines.bytes() <= 1000);
  NodeMetricLines names(node(), 1000);
  for (int i = 0; i < 100; ++i) names.take("# TYPE c" + std::to_string(i) + " counter");
  CHECK(names.is_full());
  CHECK(names.bytes() <= 1000);
  NodeMetricLines others(node(), 1000);
  for (int i = 0; i < 100; ++i) others.take(R"(c{namespace="shop-paris",pod="web"} 1)");
  CHECK_FALSE(others.is_full());
}
