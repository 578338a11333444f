// The answer to /metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/base/time.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// How the answers of this process name peers.
enum class PeerNames : std::uint8_t {
  shown,
  numbered  ///< each peer is "peer-<n>", the same one for as long as the process lives
};

/// Seconds of CPU that this thread has used.
double thread_cpu_seconds();

/// All series as text. The text is made anew for each request as long as that takes at most a tenth of the thread's
/// time, with a fifth of a second to start with; beyond that, the last text is answered again. One thread.
class MetricsText {
 public:
  /// `refresh` reads the figures that are not counted in `metrics` as they change; `used` answers the seconds of CPU
  /// that have been used.
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
  std::unique_ptr<PeerNumbers> numbers_;  ///< none where peers are shown by name
  std::string text_;
  double left_ = burst;  ///< seconds of CPU
  kube::TimePoint at_;
};

}  // namespace liqod
