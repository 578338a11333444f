// A kubelet's metrics as one consumer gets them: every line that it gets can be read, and is of its namespaces.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/usage/node_metric_lines.hpp"
#include "kube/wire/metrics_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  liqo::core::NodeView view;
  view.twins["t"] = {.original = "o", .pods = {"p", "q"}};
  std::vector<liqo::core::NodeMetricLines> nodes(2, liqo::core::NodeMetricLines(view, 1 << 12));
  kube::wire::MetricLines lines(1 << 10);
  std::size_t number = 0;
  for (const std::string& line : lines.feed(text)) nodes[number++ % 2].take(line);
  std::size_t kept = 0;
  for (const auto& node : nodes) kept += node.bytes();
  if (kept > 2 << 12) std::abort();
  kube::wire::MetricLines told;
  for (const std::string& line : told.feed(liqo::core::join_metric_lines(nodes, false))) {
    if (kube::wire::parse_metric_comment(line)) continue;
    const auto sample = kube::wire::parse_metric_sample(line);
    if (!sample || kube::wire::label_of(*sample, "namespace") != "o") std::abort();
    const std::string_view pod = kube::wire::label_of(*sample, "pod");
    if (pod != "p" && pod != "q") std::abort();
  }
  return 0;
}
