#include "core/usage/pod_usage.hpp"

#include <algorithm>
#include <cstdint>

#include "kube/wire/metrics_text.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_name = 63;
// What the heap takes for a pod with its key, and for a container with its name.
constexpr std::size_t pod_size = 480, container_size = 240;
// Nine years on a thousand cores, and an exbibyte: sums of them stay numbers.
constexpr double max_seconds = 9e9;
constexpr double max_bytes = 1e18;

const UsageFamily* family_of(std::string_view name) {
  const auto* const found = std::ranges::find(usage_families, name, &UsageFamily::name);
  return found == usage_families.end() ? nullptr : found;
}

std::optional<std::uint64_t> value_of(Measure measure, std::string_view text, kube::WallTime now) {
  const auto number = kube::wire::metric_number(text);
  const bool is_seconds = measure == Measure::cpu || measure == Measure::started;
  // NaN is within nothing.
  const bool is_within = number && *number >= 0 && *number <= (is_seconds ? max_seconds : max_bytes);
  if (!is_within) return std::nullopt;
  if (measure == Measure::cpu) return static_cast<std::uint64_t>(*number * 1e9);
  if (measure != Measure::started) return static_cast<std::uint64_t>(*number);
  const auto started = static_cast<std::int64_t>(*number * 1e3);
  if (!is_time(started, now)) return std::nullopt;
  return static_cast<std::uint64_t>(started);
}

// The name of a container is written out again, so only names pass that need no escapes.
bool is_container_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace

bool is_time(std::int64_t at, kube::WallTime now) {
  return at >= 0 &&
         at <= milliseconds((now + std::chrono::duration_cast<kube::WallTime::duration>(max_ahead)).time_since_epoch());
}

std::optional<Reading> PodUsage::of(Measure measure) const {
  if (own[measure]) return own[measure];
  std::optional<Reading> sum;
  for (const auto& [name, usage] : containers) {
    const auto& one = usage[measure];
    if (!one) continue;
    if (!sum) sum.emplace();
    sum->value = one->value > UINT64_MAX - sum->value ? UINT64_MAX : sum->value + one->value;
    sum->at = std::max(sum->at, one->at);
  }
  return sum;
}

std::optional<std::int64_t> PodUsage::started() const {
  std::optional<std::int64_t> first;
  for (const auto& [name, usage] : containers)
    if (const auto& start = usage[Measure::started])
      first = std::min(first.value_or(INT64_MAX), static_cast<std::int64_t>(start->value));
  return first;
}

PodUsageReader::PodUsageReader(UidOf uid_of, kube::WallTime now, std::size_t max_containers)
    : uid_of_(std::move(uid_of)), now_(now), max_containers_(max_containers) {}

void PodUsageReader::take(std::string_view line) {
  const UsageFamily* const family = family_of(line.substr(0, line.find_first_of("{ \t")));
  if (!family) return;
  const auto sample = kube::wire::parse_metric_sample(line);
  if (!sample) return;
  const auto value = value_of(family->measure, sample->value, now_);
  if (!value) return;
  const Reading reading{.value = *value,
                        .at = kube::wire::metric_time(*sample).value_or(milliseconds(now_.time_since_epoch()))};
  if (!is_time(reading.at, now_)) return;
  const kube::ObjectKey pod{std::string(kube::wire::label_of(*sample, "namespace")),
                            std::string(kube::wire::label_of(*sample, "pod"))};
  const std::string_view container = kube::wire::label_of(*sample, "container");
  if (family->is_of_container && !is_container_name(container)) return;
  if (pod.name.empty() || uid_of_(pod).empty()) return;
  if (!family->is_of_container) {
    by_pod_[pod].own[family->measure] = reading;
    return;
  }
  auto& containers = by_pod_[pod].containers;
  auto entry = containers.find(container);
  if (entry == containers.end()) {
    if (containers_ == max_containers_) return;
    ++containers_;
    entry = containers.emplace(container, Usage()).first;
  }
  entry->second[family->measure] = reading;
}

std::size_t PodUsageReader::held() const { return by_pod_.size() * pod_size + containers_ * container_size; }

}  // namespace liqo::core
