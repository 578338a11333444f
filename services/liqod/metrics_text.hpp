// The answer to /metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/base/time.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// What the answers of this process tell of the peers.
enum class PeerNames : std::uint8_t {
  shown,
  numbered  ///< each peer is "peer-<n>", the same one for as long as the process lives
};

/// Seconds of CPU that this thread has used.
double thread_cpu_seconds();

/// All series as text, which is made anew for whoever asks as long as that takes no more than a tenth of the thread,
/// after a fifth of a second for which nobody has to save; beyond it, the last text is answered once more. One thread.
class MetricsText {
 public:
  /// `refresh` reads figures anew that nobody counts in `metrics` as they change; `used` says how many seconds of CPU
  /// have been used.
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
