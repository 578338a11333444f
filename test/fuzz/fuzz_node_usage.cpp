// The usage of pods as a provider reports it: nothing of others gets through, and a node's CPU time never falls.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/usage/own_lines.hpp"
#include "kube/wire/metrics_text.hpp"
#include "kubelet/usage_texts.hpp"

namespace {

using namespace liqo::kubelet;
using namespace liqo::core;

constexpr std::size_t max_containers = 8;

std::string uid_of(const kube::ObjectKey& pod) { return pod.ns == "n" && pod.name.size() == 1 ? "u" + pod.name : ""; }

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_own(const kube::wire::MetricSample& sample) {
  return sample.name.starts_with("node_") || sample.name.ends_with("scrape_error") ||
         !uid_of({std::string(kube::wire::label_of(sample, "namespace")),
                  std::string(kube::wire::label_of(sample, "pod"))})
              .empty();
}

/// Every line of it is a comment, or a sample of the node here.
void check_text(std::string_view text) {
  kube::wire::MetricLines lines;
  for (const std::string& line : lines.feed(text)) {
    const auto sample = kube::wire::parse_metric_sample(line);
    check(sample ? is_own(*sample) : kube::wire::parse_metric_comment(line).has_value());
  }
  check(!lines.finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Looks are separated by an empty line.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  kube::WallTime now(std::chrono::seconds(1'700'000'000));
  NodeUsage usage;
  NodeReading before;
  liqo::core::OwnLines own(uid_of, now);
  while (!rest.empty()) {
    const std::size_t end = rest.find("\n\n");
    liqo::core::PodUsageReader reader(uid_of, now, max_containers);
    kube::wire::MetricLines lines;
    for (const std::string& line : lines.feed(rest.substr(0, end))) {
      reader.take(line);
      check_text(own.take(line));
    }
    usage.take(reader.by_pod(), uid_of, now);
    const NodeReading& node = usage.node();
    check(node.cpu >= before.cpu && node.at >= before.at && node.cpu > 0 && node.memory > 0);
    before = node;
    std::size_t containers = 0;
    for (const auto& [key, pod] : reader.by_pod()) {
      check(!uid_of(key).empty());
      containers += pod.containers.size();
      static_cast<void>(kube::json::serialize(pod_statistics(kube::Object(kube::json::object()), pod, usage)));
    }
    check(containers <= max_containers);
    ResourceText text(reader.by_pod(), node);
    for (std::string piece = text.next(); !piece.empty(); piece = text.next()) check_text(piece);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 2);
    now += std::chrono::seconds(15);
  }
  return 0;
}
