// Runs many schedules at once: worker processes get one seed after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace liqo::sim {

/// The result of one schedule.
struct Outcome {
  bool failed = false;
  std::string text;  ///< to be printed, with its line ends
};

/// Runs `schedule` for the seeds [first, first + count) in `jobs` forked processes, and hands each outcome to `take` in
/// the order of the seeds. A worker that dies fails the seed it was given, with the signal or exit code as text, and
/// another takes its place. Call this before any thread is started. Throws std::system_error if the system has no more
/// processes or descriptors.
void run_in_workers(std::uint64_t first, std::uint64_t count, unsigned jobs,
                    const std::function<Outcome(std::uint64_t seed)>& schedule,
                    const std::function<void(const Outcome&)>& take);

}  // namespace liqo::sim
