#include "core/usage/node_usage.hpp"

#include <algorithm>

namespace liqo::core {
namespace {

constexpr std::int64_t shortest_span = 1000;
// metrics-server takes a node without any CPU time or memory for one whose metrics are incomplete, and shows none.
constexpr std::uint64_t least_cpu = 1000;
constexpr std::uint64_t least_memory = 1;
// The metrics of a new pod come this late, because kubelets look at containers every ten seconds or so.
constexpr std::int64_t late_by = 30'000;
constexpr std::uint64_t max_sum = std::uint64_t(1) << 62;
// A million cores: what is more is no rate but a count that jumped.
constexpr double max_rate = 1e15;

std::uint64_t add(std::uint64_t left, std::uint64_t right) { return right > max_sum - left ? max_sum : left + right; }

}  // namespace

std::optional<std::uint64_t> Meter::take(const Reading& reading) {
  if (!last_) {
    last_ = reading;
    return std::nullopt;
  }
  if (reading.at - last_->at < shortest_span) return 0;
  const std::uint64_t grown = reading.value >= last_->value ? reading.value - last_->value : reading.value;
  span_ = reading.at - last_->at;
  last_ = reading;
  const double rate = static_cast<double>(grown) * 1e3 / static_cast<double>(span_);
  rate_ = rate <= max_rate ? std::optional(static_cast<std::uint64_t>(rate)) : std::nullopt;
  return grown;
}

std::optional<std::uint64_t> NodeUsage::PodMeters::rate() const {
  if (has_own) return own.rate();
  std::optional<std::uint64_t> sum;
  for (const auto& [name, meter] : containers)
    if (const auto one = meter.rate()) sum = add(sum.value_or(0), *one);
  return sum;
}

std::uint64_t NodeUsage::grown(Meter& meter, const Reading& reading, const Sight& pod) const {
  const auto grown = meter.take(reading);
  if (looks_ == 1) return reading.value;
  if (!grown) {
    // A pod that ran unseen for long counts from now on: all its CPU time at once would look like a great many cores.
    // The start of the pod and the reading are times of the same clock.
    return pod.started && reading.at - *pod.started <= pod.since_look + late_by ? reading.value : 0;
  }
  if (pod.was_seen || meter.span() <= pod.since_look) return *grown;
  // Of a pod that was silent for a while, only the share since the look before counts.
  return static_cast<std::uint64_t>(static_cast<double>(*grown) * static_cast<double>(pod.since_look) /
                                    static_cast<double>(meter.span()));
}

void NodeUsage::take(const UsageByPod& by_pod, const UidOf& uid_of, kube::WallTime now) {
  ++looks_;
  const std::int64_t since_look = std::max<std::int64_t>(milliseconds(now - looked_), 0);
  NodeReading node;
  for (const auto& [key, usage] : by_pod) {
    std::string uid = uid_of(key);
    if (uid.empty()) continue;
    PodMeters& pod = pods_[key];
    if (pod.uid != uid) pod = PodMeters{.uid = std::move(uid)};
    const Sight sight{
        .started = usage.started(), .was_seen = pod.look != 0 && pod.look + 1 == looks_, .since_look = since_look};
    pod.look = looks_;
    std::uint64_t by_containers = 0;
    std::map<std::string, Meter, std::less<>> meters;
    for (const auto& [name, container] : usage.containers) {
      const auto known = pod.containers.find(name);
      Meter meter = known == pod.containers.end() ? Meter() : known->second;
      if (const auto& cpu = container[Measure::cpu]) by_containers = add(by_containers, grown(meter, *cpu, sight));
      meters.emplace(name, meter);
    }
    pod.containers = std::move(meters);
    const auto& own = usage.own[Measure::cpu];
    pod.has_own = own.has_value();
    used_ = add(used_, own ? grown(pod.own, *own, sight) : by_containers);
    if (const auto rate = pod.rate()) node.rate = add(node.rate.value_or(0), *rate);
    if (const auto cpu = usage.of(Measure::cpu)) node.at = std::max(node.at, cpu->at);
    const auto memory = usage.of(Measure::memory);
    if (!memory) continue;
    node.memory = add(node.memory, memory->value);
    node.at = std::max(node.at, memory->at);
  }
  std::erase_if(pods_, [&](const auto& pod) { return uid_of(pod.first) != pod.second.uid; });
  if (node.at == 0) {
    node.at = milliseconds(now.time_since_epoch());
    node.rate = 0;
  }
  node.at = std::max(node.at, node_.at);
  node.cpu = std::max(used_, least_cpu);
  node.memory = std::max(node.memory, least_memory);
  node_ = node;
  looked_ = now;
}

std::optional<std::uint64_t> NodeUsage::rate(const kube::ObjectKey& pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() ? std::nullopt : found->second.rate();
}

std::optional<std::uint64_t> NodeUsage::rate(const kube::ObjectKey& pod, const std::string& container) const {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return std::nullopt;
  const auto meter = found->second.containers.find(container);
  return meter == found->second.containers.end() ? std::nullopt : meter->second.rate();
}

}  // namespace liqo::core
