// The simulation of the quota ledger: two replicas, consumers that ask for more than there is, one schedule of faults
// per seed.    test_sim_ledger [COUNT [FIRST]]
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "kube/telemetry/log.hpp"
#include "ledger_world.hpp"
#include "workers.hpp"

namespace {

liqo::sim::Outcome run_seed(std::uint64_t seed) {
  // A schedule that hangs leaves coroutines behind that use the world; then it is left to the end of the process.
  auto world = std::make_unique<liqo::sim::LedgerWorld>(seed);
  const auto violations = world->run();
  liqo::sim::Outcome outcome{.failed = !violations.empty(), .text = {}};
  for (const auto& violation : violations)
    outcome.text += "seed " + std::to_string(seed) + ": " + violation.invariant + ": " + violation.what + "\n";
  if (world->admitted() == 0) outcome.text += "seed " + std::to_string(seed) + ": nothing was admitted\n";
  outcome.failed |= world->admitted() == 0;
  if (outcome.failed) (void)world.release();
  return outcome;
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t seeds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  kube::configure_logging(kube::LogLevel::error, kube::LogFormat::text);
  std::uint64_t failed = 0;
  const auto take = [&failed](const liqo::sim::Outcome& outcome) {
    std::cout << outcome.text << std::flush;
    failed += outcome.failed;
  };
  if (seeds == 1) {
    take(run_seed(first));
  } else {
    liqo::sim::run_in_workers(first, seeds, std::max(1U, std::thread::hardware_concurrency()), run_seed, take);
  }
  std::cout << seeds - failed << " passed, " << failed << " failed, 0 skipped" << std::endl;
  return failed > 0 ? 1 : 0;
}
