// The command line of a simulation that takes nothing but seeds:  PROGRAM [COUNT [FIRST]]
#pragma once

#include "workers.hpp"

namespace liqo::sim {

/// Runs the schedules that the command line asks for, 1,000 from 0 on by default, and prints what fails and the sum.
/// One alone runs in this process and with its logs. Answers the exit code.
int run_seeds(int count, char** arguments, const std::function<Outcome(std::uint64_t seed)>& schedule);

}  // namespace liqo::sim
