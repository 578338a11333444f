// Foreign metrics: what is read is read again from its own line as the same, in pieces of any size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kube/wire/metrics_text.hpp"

namespace {

void check_line(std::string_view line) {
  static_cast<void>(kube::wire::parse_metric_comment(line));
  const auto sample = kube::wire::parse_metric_sample(line);
  if (!sample) return;
  if (sample->labels.size() > kube::wire::max_metric_labels) std::abort();
  std::string written = kube::wire::metric_line(*sample);
  written.pop_back();
  const auto again = kube::wire::parse_metric_sample(written);
  if (!again || again->name != sample->name || again->value != sample->value || again->timestamp != sample->timestamp ||
      again->labels.size() != sample->labels.size())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says in which pieces the rest arrives.
  const std::size_t piece = std::size_t(data[0]) + 1;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  kube::wire::MetricLines lines(256);
  while (!rest.empty()) {
    for (const std::string& line : lines.feed(rest.substr(0, piece))) {
      if (line.size() > 256) std::abort();
      check_line(line);
    }
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  if (const auto line = lines.finish()) check_line(*line);
  return 0;
}
