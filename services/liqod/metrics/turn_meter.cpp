#include "turn_meter.hpp"

#include <algorithm>
#include <utility>

namespace liqod {
namespace {

// The shortest turn that is reported is a hundred times as long. A stream of bytes has ten thousand turns a second.
constexpr double short_turn = 0.0005;

}  // namespace

TurnMeter::TurnMeter(Clock wall, Clock cpu)
    : wall_(std::move(wall)), cpu_(std::move(cpu)), wall_before_(wall_()), cpu_before_(cpu_()) {}

double TurnMeter::ended() {
  const double wall = wall_();
  const double passed = wall - std::exchange(wall_before_, wall);
  if (passed < short_turn && estimated_ < short_turn) {
    estimated_ += passed;
    return passed;
  }
  const double cpu = cpu_();
  const double spent = cpu - std::exchange(cpu_before_, cpu);
  return std::max(0.0, std::min(passed, spent - std::exchange(estimated_, 0)));
}

}  // namespace liqod
