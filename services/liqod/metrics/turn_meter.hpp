// The CPU time of each turn of the loop, measured cheaply enough for turns of microseconds.
#pragma once

#include <functional>

namespace liqod {

/// CPU seconds of each turn. Reading the CPU clock is a system call, reading the wall clock is not. After a short turn
/// the wall time, which is an upper bound of the CPU time, is taken for it. A turn may be reported up to 1 ms shorter
/// than it was.
class TurnMeter {
 public:
  using Clock = std::function<double()>;  ///< seconds
  TurnMeter(Clock wall, Clock cpu);

  /// Ends a turn, and returns its CPU seconds.
  double ended();

 private:
  Clock wall_, cpu_;
  double wall_before_, cpu_before_;
  double estimated_ = 0;  // wall time that was taken for CPU time since the CPU clock was read
};

}  // namespace liqod
