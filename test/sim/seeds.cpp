#include "seeds.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "kube/telemetry/log.hpp"

namespace liqo::sim {

int run_seeds(int count, char** arguments, const std::function<Outcome(std::uint64_t seed)>& schedule) {
  const std::uint64_t seeds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  kube::configure_logging(seeds == 1 ? kube::LogLevel::debug : kube::LogLevel::error, kube::LogFormat::text);
  std::uint64_t failed = 0;
  const auto take = [&failed](const Outcome& outcome) {
    std::cout << outcome.text << std::flush;
    failed += outcome.failed;
  };
  if (seeds == 1) {
    take(schedule(first));
  } else {
    run_in_workers(first, seeds, std::max(1U, std::thread::hardware_concurrency()), schedule, take);
  }
  std::cout << seeds - failed << " passed, " << failed << " failed, 0 skipped" << std::endl;
  return failed > 0 ? 1 : 0;
}

}  // namespace liqo::sim
