// The response body of /metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/base/time.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// How /metrics and the health port name peers.
enum class PeerNames : std::uint8_t {
  shown,
  numbered  ///< each peer is "peer-<n>", and keeps its number as long as metrics name it
};

/// The seconds of CPU that this thread has used.
double thread_cpu_seconds();

/// All series as text. Writing the text may take at most a tenth of the thread's time, with a burst of a fifth of a
/// second at the start. Within that it is written for each request; beyond it, the last text is returned again. One
/// thread.
class MetricsText {
 public:
  /// `refresh` updates the metrics that are not counted as they change. `used` returns the seconds of CPU used so far.
  MetricsText(kube::Metrics& metrics, std::function<void()> refresh, PeerNames names,
              std::function<double()> used = thread_cpu_seconds);
  ~MetricsText();

  const std::string& read(kube::TimePoint now);

 private:
  class PeerNumbers;
  static constexpr double part = 0.1, burst = 0.2;

  kube::Metrics& metrics_;
  std::function<void()> refresh_;
  std::function<double()> used_;
  std::unique_ptr<PeerNumbers> numbers_;  ///< null if peers are shown by name
  std::string text_;
  double left_ = burst;  ///< seconds of CPU
  kube::TimePoint at_;
};

}  // namespace liqod
