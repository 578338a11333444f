#include "kubelet/usage_texts.hpp"

#include <utility>

#include "kube/base/time.hpp"
#include "kubelet/answer_sizes.hpp"

namespace liqo::kubelet {
namespace {

namespace json = kube::json;
using core::Measure;
using core::NodeReading;
using core::NodeUsage;
using core::PodUsage;
using core::Reading;
using core::Usage;
using core::UsageByPod;

// Exact: a double cannot represent every count of nanoseconds.
std::string decimal(std::uint64_t value, std::uint64_t per_unit, std::size_t digits) {
  const std::string rest = std::to_string(value % per_unit);
  std::string text = std::to_string(value / per_unit) + "." + std::string(digits - rest.size(), '0') + rest;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string number(Measure measure, std::uint64_t value) {
  if (measure == Measure::cpu) return decimal(value, 1'000'000'000, 9);
  if (measure == Measure::started) return decimal(value, 1'000, 3);
  return std::to_string(value);
}

void add_head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
  text.append(type).append("\n");
}

void add_value(std::string& text, const std::string& value, std::int64_t at) {
  text.append(" ").append(value).append(" ").append(std::to_string(at)).append("\n");
}

void add_outcome(std::string& text, std::string_view name, bool has_failed) {
  add_head(text, name, "gauge", "1 if there was an error while getting container metrics, 0 otherwise");
  text.append(name).append(has_failed ? " 1\n" : " 0\n");
}

void add_resource_outcome(std::string& text, bool has_failed) {
  add_outcome(text, "resource_scrape_error", has_failed);
  add_outcome(text, "scrape_error", has_failed);
}

std::string time_text(std::int64_t milliseconds) {
  return kube::format_time(kube::WallTime(std::chrono::milliseconds(milliseconds)));
}

json::object cpu_statistics(const Reading& reading, std::optional<std::uint64_t> rate) {
  json::object cpu{{"time", time_text(reading.at)}};
  if (rate) cpu["usageNanoCores"] = *rate;
  cpu["usageCoreNanoSeconds"] = reading.value;
  return cpu;
}

// Kubelets report more than the working set; if only that is known, it is the least usage.
json::object memory_statistics(const Reading& reading) {
  return {{"time", time_text(reading.at)}, {"usageBytes", reading.value}, {"workingSetBytes", reading.value}};
}

}  // namespace

void ResourceText::add_pod(std::string& text) {
  const core::UsageFamily& family = core::usage_families[family_];
  const auto add = [&](const std::optional<Reading>& reading, std::string_view container) {
    if (!reading) return;
    if (!std::exchange(has_family_head_, true)) add_head(text, family.name, family.type, family.help);
    text.append(family.name).append("{");
    if (!container.empty()) text.append("container=\"").append(container).append("\",");
    text.append("namespace=\"").append(pod_->first.ns).append("\",pod=\"").append(pod_->first.name).append("\"}");
    // The start time is not a sample: kubelets give it no timestamp.
    if (family.measure == Measure::started)
      text.append(" ").append(number(family.measure, reading->value)).append("\n");
    else
      add_value(text, number(family.measure, reading->value), reading->at);
  };
  if (!family.is_of_container)
    add(pod_->second.own[family.measure], "");
  else
    for (const auto& [name, usage] : pod_->second.containers) add(usage[family.measure], name);
}

void ResourceText::add_end(std::string& text) const {
  add_head(text, "node_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the node in core-seconds");
  add_value(text += "node_cpu_usage_seconds_total", number(Measure::cpu, node_.cpu), node_.at);
  add_head(text, "node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
  add_value(text += "node_memory_working_set_bytes", number(Measure::memory, node_.memory), node_.at);
  add_resource_outcome(text, false);
}

std::string ResourceText::next() {
  std::string text;
  while (family_ < core::usage_families.size() && text.size() < piece_size) {
    if (pod_ != by_pod_.end()) {
      add_pod(text);
      ++pod_;
      continue;
    }
    ++family_;
    has_family_head_ = false;
    pod_ = by_pod_.begin();
  }
  if (family_ == core::usage_families.size() && !std::exchange(is_over_, true)) add_end(text);
  return text;
}

std::string text_without_usage(Endpoint endpoint, std::string_view why) {
  std::string text = "# ";
  text.append(why).append("\n");
  if (endpoint == Endpoint::metrics_resource) add_resource_outcome(text, true);
  if (endpoint == Endpoint::metrics_cadvisor) add_outcome(text, "container_scrape_error", true);
  return text;
}

json::object node_statistics(std::string_view node, std::string_view started, const NodeReading& reading) {
  json::object entry{{"nodeName", node}};
  if (!started.empty()) entry["startTime"] = started;
  entry["cpu"] = cpu_statistics({reading.cpu, reading.at}, reading.rate);
  entry["memory"] = memory_statistics({reading.memory, reading.at});
  return entry;
}

json::object pod_statistics(const kube::Object& pod, const PodUsage& usage, const NodeUsage& node) {
  json::object entry{
      {"podRef", json::object{{"name", pod.name()}, {"namespace", pod.ns()}, {"uid", pod.uid()}}},
  };
  const std::string_view started = kube::string_at(pod.status(), {"startTime"});
  entry["startTime"] = started.empty() ? kube::string_at(pod.tree(), {"metadata", "creationTimestamp"}) : started;
  json::array containers;
  for (const auto& [name, told] : usage.containers) {
    json::object container{{"name", name}};
    if (const auto& start = told[Measure::started])
      container["startTime"] = time_text(static_cast<std::int64_t>(start->value));
    if (const auto& cpu = told[Measure::cpu]) container["cpu"] = cpu_statistics(*cpu, node.rate(pod.key(), name));
    if (const auto& memory = told[Measure::memory]) container["memory"] = memory_statistics(*memory);
    containers.push_back(std::move(container));
  }
  entry["containers"] = std::move(containers);
  if (const auto cpu = usage.of(Measure::cpu)) entry["cpu"] = cpu_statistics(*cpu, node.rate(pod.key()));
  if (const auto memory = usage.of(Measure::memory)) entry["memory"] = memory_statistics(*memory);
  return entry;
}

}  // namespace liqo::kubelet
