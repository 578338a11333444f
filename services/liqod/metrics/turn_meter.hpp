// How long the loop is busy with one thing, measured cheaply enough for things that take microseconds.
#pragma once

#include <functional>

namespace liqod {

/// CPU seconds of each turn. Reading the CPU clock is a system call, reading the wall clock is not. Where little wall
/// time has passed, it is an upper bound of the CPU time and is taken for it. A turn may be reported up to 1 ms shorter
/// than it was.
class TurnMeter {
 public:
  using Clock = std::function<double()>;  ///< seconds
  TurnMeter(Clock wall, Clock cpu);

  /// A turn has ended; what it took.
  double ended();

 private:
  Clock wall_, cpu_;
  double wall_before_, cpu_before_;
  double estimated_ = 0;  // what was taken for CPU time since the CPU clock was read
};

}  // namespace liqod
