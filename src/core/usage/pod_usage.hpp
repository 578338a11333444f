// The usage of the pods of a virtual node, as their provider reports it in one answer to GET /metrics/resource. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The UID of a pod that is bound to the virtual node; "" = no such pod is.
using UidOf = std::function<std::string(const kube::ObjectKey& pod)>;

/// The measures that are reported of containers and pods.
enum class Measure : std::uint8_t {
  cpu,        ///< nanoseconds of CPU time since the start
  memory,     ///< bytes of the working set
  started,    ///< milliseconds since 1970
  swap,       ///< bytes
  swap_limit  ///< bytes
};
/// How many there are.
inline constexpr std::size_t measure_count = 5;

/// A number, and when it was read by the kubelet: milliseconds since 1970.
struct Reading {
  std::uint64_t value = 0;
  std::int64_t at = 0;
  bool operator==(const Reading&) const = default;
};

/// The usage of a container, or that which is reported of a pod as a whole. What is not reported is absent.
class Usage {
 public:
  std::optional<Reading>& operator[](Measure measure) { return readings_[static_cast<std::size_t>(measure)]; }
  const std::optional<Reading>& operator[](Measure measure) const {
    return readings_[static_cast<std::size_t>(measure)];
  }

 private:
  std::array<std::optional<Reading>, measure_count> readings_;
};

/// What one pod uses.
struct PodUsage {
  Usage own;  ///< of the pod as a whole
  std::map<std::string, Usage, std::less<>> containers;

  /// CPU or memory of the pod: its own, else the sum of its containers with the time of the newest.
  std::optional<Reading> of(Measure measure) const;
  /// When the first of its containers that run was started; nothing if that is not reported.
  std::optional<std::int64_t> started() const;
};

/// All pods of the node of which there is something to report.
using UsageByPod = std::map<kube::ObjectKey, PodUsage>;

/// A family of GET /metrics/resource.
struct UsageFamily {
  std::string_view name, help, type;
  bool is_of_container;  ///< else of a pod
  Measure measure;
};
inline constexpr std::array<UsageFamily, 8> usage_families = {{
    {"container_cpu_usage_seconds_total", "Cumulative cpu time consumed by the container in core-seconds", "counter",
     true, Measure::cpu},
    {"container_memory_working_set_bytes", "Current working set of the container in bytes", "gauge", true,
     Measure::memory},
    {"container_start_time_seconds", "Start time of the container since unix epoch in seconds", "gauge", true,
     Measure::started},
    {"container_swap_limit_bytes", "Current amount of the container swap limit in bytes", "gauge", true,
     Measure::swap_limit},
    {"container_swap_usage_bytes", "Current amount of the container swap usage in bytes", "gauge", true, Measure::swap},
    {"pod_cpu_usage_seconds_total", "Cumulative cpu time consumed by the pod in core-seconds", "counter", false,
     Measure::cpu},
    {"pod_memory_working_set_bytes", "Current working set of the pod in bytes", "gauge", false, Measure::memory},
    {"pod_swap_usage_bytes", "Current amount of the pod swap usage in bytes", "gauge", false, Measure::swap},
}};

/// A reading from further ahead than this would be the newest for too long: no clock is that wrong.
inline constexpr kube::Duration max_ahead = std::chrono::minutes(10);

/// Milliseconds, in which readings have their times.
constexpr std::int64_t milliseconds(kube::WallTime::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Whether a time in milliseconds since 1970 can be one at which something was read.
bool is_time(std::int64_t at, kube::WallTime now);

/// Reads the provider's lines and keeps what is of pods of this node. A provider may write anything: lines of other
/// pods, numbers that cannot be (below zero, none, more than a machine has), and times far ahead are left out, one by
/// one. One of several lines of the same measure counts, the last.
class PodUsageReader {
 public:
  /// `max_containers`: more are left out.
  PodUsageReader(UidOf uid_of, kube::WallTime now, std::size_t max_containers);

  /// Takes one line, without its line end.
  void take(std::string_view line);
  /// What was kept of the lines so far.
  const UsageByPod& by_pod() const { return by_pod_; }
  /// About how much memory that takes, in bytes.
  std::size_t held() const;

 private:
  UidOf uid_of_;
  kube::WallTime now_;
  std::size_t max_containers_, containers_ = 0;
  UsageByPod by_pod_;
};

}  // namespace liqo::core
