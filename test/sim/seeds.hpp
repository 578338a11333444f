// The command line of a simulation that takes nothing but seeds:  PROGRAM [COUNT [FIRST]]
#pragma once

#include <memory>
#include <string>

#include "invariants.hpp"
#include "workers.hpp"

namespace liqo::sim {

/// Runs the schedules that the command line asks for, 1,000 from 0 on by default, and prints the failures and a
/// summary. A single schedule runs in this process and with its logs. Returns the exit code.
int run_seeds(int count, char** arguments, const std::function<Outcome(std::uint64_t seed)>& schedule);

/// Runs one schedule of a world that has a log of its actions (`log()`) and returns its violations (`run()`).
template <class World>
Outcome run_world(std::uint64_t seed) {
  // A schedule that hangs leaves coroutines behind that use the world, so the world is leaked then.
  auto world = std::make_unique<World>(seed);
  const auto violations = world->run();
  Outcome outcome{.failed = !violations.empty(), .text = {}};
  if (outcome.failed)
    for (const std::string& line : world->log()) outcome.text += "  " + line + "\n";
  for (const Violation& violation : violations)
    outcome.text += "seed " + std::to_string(seed) + ": " + violation.invariant + ": " + violation.what + "\n";
  if (outcome.failed) (void)world.release();
  return outcome;
}

}  // namespace liqo::sim
