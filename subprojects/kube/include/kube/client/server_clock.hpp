// How far the clock of a server is from ours, by the Date of its answers.
#pragma once

#include <optional>
#include <string_view>

#include "kube/base/time.hpp"

namespace kube {

/// Looks at one answer in 30 s. One thread.
class ServerClock {
 public:
  /// Takes the Date of an answer that was asked for at `sent` and came at `received`, by our clock. A Date that cannot
  /// be read counts as none. Returns whether it was looked at.
  bool observe(std::string_view date, WallTime sent, WallTime received, TimePoint now);

  /// How far its clock is at least ahead of ours (negative: behind); the time that the request and its answer took may
  /// explain the rest. Nothing before the first Date.
  std::optional<std::chrono::seconds> ahead() const { return ahead_; }

 private:
  std::optional<std::chrono::seconds> ahead_;
  std::optional<TimePoint> looked_;
};

}  // namespace kube
