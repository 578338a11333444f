// The lines of kubelets' metrics that are about one consumer's pods, and the text that the consumer gets. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/usage/consumer_view.hpp"

namespace liqo::core {

/// The lines kept of one node's answer, by metric family, so that a family of several nodes becomes one group.
class NodeMetricLines {
 public:
  /// Keeps `max_bytes` of text at most.
  NodeMetricLines(NodeView view, std::size_t max_bytes) : view_(std::move(view)), max_bytes_(max_bytes) {}

  /// Keeps a line that names a pod of the consumer, with the namespace's name at the consumer, and the texts of TYPE
  /// and HELP. Lines about other tenants' pods and about the node itself are dropped.
  void take(std::string_view line);
  /// Whether there was more than may be kept, so that lines are missing.
  bool is_full() const { return full_; }
  const NodeView& view() const { return view_; }
  /// Bytes of text that are kept.
  std::size_t bytes() const { return bytes_; }

 private:
  friend std::string join_metric_lines(std::span<const NodeMetricLines> nodes, bool node_sums);
  struct Family {
    std::string type, help;  ///< as TYPE and HELP say; "" = they do not
    std::string lines;
  };
  /// Sums of the pods that were kept.
  struct Sums {
    double cpu_seconds = 0, memory_bytes = 0;
  };

  bool fits(std::size_t bytes);
  /// The family of a sample: histograms and summaries have several names.
  std::string_view family_of(std::string_view sample) const;

  NodeView view_;
  std::size_t max_bytes_, bytes_ = 0;
  bool full_ = false;
  std::map<std::string, Family, std::less<>> families_;
  Sums sums_;
  std::int64_t cpu_time_ = 0, memory_time_ = 0;  ///< the newest time of what was summed, ms since 1970; 0 = none
};

/// Everything as one text. A family of several nodes is one group with one TYPE and one HELP line, as the format
/// demands: parsers refuse a second TYPE line, and one that comes after samples. What the first node says of a family
/// holds. With `node_sums`, node_cpu_usage_seconds_total and node_memory_working_set_bytes are included, too: not those
/// of the nodes, which would show the usage of other tenants, but the sums over the consumer's pods, with the newest of
/// their times.
std::string join_metric_lines(std::span<const NodeMetricLines> nodes, bool node_sums);

}  // namespace liqo::core
