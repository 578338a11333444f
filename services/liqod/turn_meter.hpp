// How long the loop is busy with one thing, at a price that things of microseconds can pay.
#pragma once

#include <functional>

namespace liqod {

/// CPU seconds of each turn. The CPU clock is a system call, the wall clock is not: where little time has passed at
/// all, no more of it was CPU time, and that is taken for it. So a turn may be said to be up to 1 ms shorter than it
/// was.
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
