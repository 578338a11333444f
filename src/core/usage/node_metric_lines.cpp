#include "core/usage/node_metric_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "kube/base/text.hpp"
#include "kube/wire/metrics_text.hpp"

namespace liqo::core {
namespace {

namespace wire = kube::wire;

constexpr std::string_view pod_cpu = "pod_cpu_usage_seconds_total", pod_memory = "pod_memory_working_set_bytes";
constexpr std::string_view node_cpu = "node_cpu_usage_seconds_total", node_memory = "node_memory_working_set_bytes";

/// An estimate of the memory of a map entry and its strings beside the text.
constexpr std::size_t family_overhead = 128;

/// The shortest text that parses to the same number.
std::string text_of(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

void add(double& sum, std::int64_t& newest, const wire::MetricSample& sample) {
  const double more = wire::metric_number(sample.value).value_or(0);
  // NaN, infinite and negative values would spoil the sum.
  if (!std::isfinite(more) || more < 0 || more > 1e300) return;
  sum += more;
  newest = std::max(newest, wire::metric_time(sample).value_or(0));
}

void add_head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  if (!help.empty()) text.append("# HELP ").append(name).append(" ").append(help) += '\n';
  if (!type.empty()) text.append("# TYPE ").append(name).append(" ").append(type) += '\n';
}

void add_sum(std::string& text, std::string_view name, double sum, std::int64_t time) {
  text.append(name).append(" ").append(text_of(sum));
  if (time > 0) text.append(" ").append(std::to_string(time));
  text += '\n';
}

}  // namespace

bool NodeMetricLines::fits(std::size_t bytes) {
  if (bytes > max_bytes_ - bytes_) full_ = true;
  if (!full_) bytes_ += bytes;
  return !full_;
}

std::string_view NodeMetricLines::family_of(std::string_view sample) const {
  if (families_.contains(sample)) return sample;
  for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
    if (!sample.ends_with(suffix)) continue;
    const std::string_view base = sample.substr(0, sample.size() - suffix.size());
    const auto family = families_.find(base);
    if (family == families_.end()) continue;
    if (family->second.type == "histogram" || (family->second.type == "summary" && suffix != "_bucket")) return base;
  }
  return sample;
}

void NodeMetricLines::take(std::string_view line) {
  if (full_) return;
  if (const auto comment = wire::parse_metric_comment(line)) {
    auto family = families_.find(comment->name);
    std::string Family::* const part = comment->is_type ? &Family::type : &Family::help;
    const bool is_new = family == families_.end();
    if (!is_new && !(family->second.*part).empty()) return;
    if (!fits(comment->text.size() + (is_new ? comment->name.size() + family_overhead : 0))) return;
    if (is_new) family = families_.emplace(comment->name, Family()).first;
    family->second.*part = comment->text;
    return;
  }
  auto sample = wire::parse_metric_sample(line);
  if (!sample) return;
  const auto twin = view_.twins.find(wire::label_of(*sample, "namespace"));
  if (twin == view_.twins.end() || !twin->second.pods.contains(wire::label_of(*sample, "pod"))) return;
  const std::string original = kube::escape_label(twin->second.original);
  for (wire::MetricLabel& label : sample->labels)
    if (label.name == "namespace") label.value = original;
  const std::string kept = wire::metric_line(*sample);
  const std::string_view name = family_of(sample->name);
  auto family = families_.find(name);
  const bool is_new = family == families_.end();
  if (!fits(kept.size() + (is_new ? name.size() + family_overhead : 0))) return;
  if (is_new) family = families_.emplace(name, Family()).first;
  family->second.lines += kept;
  if (sample->name == pod_cpu) add(sums_.cpu_seconds, cpu_time_, *sample);
  if (sample->name == pod_memory) add(sums_.memory_bytes, memory_time_, *sample);
}

std::string join_metric_lines(std::span<const NodeMetricLines> nodes, bool node_sums) {
  std::map<std::string_view, std::vector<const NodeMetricLines::Family*>> families;
  std::size_t bytes = 0;
  for (const NodeMetricLines& node : nodes) {
    bytes += node.bytes();
    for (const auto& [name, family] : node.families_)
      if (!family.lines.empty()) families[name].push_back(&family);
  }
  std::string text;
  text.reserve(bytes);
  for (const auto& [name, parts] : families) {
    // Kubelets have these families of nodes and not of pods. One that came in here would be written twice, because the
    // sums below have these names.
    if (name == node_cpu || name == node_memory) continue;
    add_head(text, name, parts.front()->type, parts.front()->help);
    for (const NodeMetricLines::Family* part : parts) text += part->lines;
  }
  if (!node_sums) return text;
  NodeMetricLines::Sums sums;
  std::int64_t cpu_time = 0, memory_time = 0;
  for (const NodeMetricLines& node : nodes) {
    sums.cpu_seconds += node.sums_.cpu_seconds;
    sums.memory_bytes += node.sums_.memory_bytes;
    cpu_time = std::max(cpu_time, node.cpu_time_);
    memory_time = std::max(memory_time, node.memory_time_);
  }
  add_head(text, node_cpu, "counter", "CPU time of the consumer's pods in seconds, over all nodes");
  add_sum(text, node_cpu, sums.cpu_seconds, cpu_time);
  add_head(text, node_memory, "gauge", "Working set of the consumer's pods in bytes, over all nodes");
  add_sum(text, node_memory, sums.memory_bytes, memory_time);
  return text;
}

}  // namespace liqo::core
