// The worker processes of the simulation.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "workers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace liqo::sim {

namespace {

struct Run {
  std::vector<std::string> texts;
  std::vector<bool> failures;
};

Run run(std::uint64_t first, std::uint64_t count, unsigned jobs,
        const std::function<Outcome(std::uint64_t)>& schedule) {
  Run all;
  run_in_workers(first, count, jobs, schedule, [&](const Outcome& outcome) {
    all.texts.push_back(outcome.text);
    all.failures.push_back(outcome.failed);
  });
  return all;
}

}  // namespace

TEST_CASE("outcomes come in the order of the seeds, however many workers there are") {
  for (const unsigned jobs : {1U, 2U, 5U}) {
    CAPTURE(jobs);
    const Run all = run(7, 20, jobs, [](std::uint64_t seed) {
      // Early seeds take longest.
      ::usleep(seed < 10 ? 2000 : 0);
      return Outcome{seed == 11, std::string(seed * 10'000, 'x')};
    });
    REQUIRE(all.texts.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(all.texts[i].size() == (7 + i) * 10'000);
      CHECK(all.failures[i] == (i == 4));
    }
  }
}

TEST_CASE("a worker that dies fails its seed alone, and says how") {
  const Run all = run(0, 6, 2, [](std::uint64_t seed) {
    if (seed == 2) std::raise(SIGKILL);
    if (seed == 5) ::_exit(3);
    return Outcome{false, "fine"};
  });
  REQUIRE(all.texts.size() == 6);
  CHECK(all.failures == std::vector<bool>{false, false, true, false, false, true});
  CHECK(all.texts[2] == "seed 2: the worker died of signal 9 (Killed)\n");
  CHECK(all.texts[5] == "seed 5: the worker ended with exit code 3\n");
}

TEST_CASE("a worker that ends badly after its last seed is told of too") {
  static pid_t parent = ::getpid();
  const Run all = run(0, 2, 2, [](std::uint64_t) {
    std::atexit([] {
      if (::getpid() != parent) ::_exit(23);
    });
    return Outcome{false, "fine"};
  });
  REQUIRE(all.texts.size() == 4);
  CHECK(all.texts[3] == "the worker ended with exit code 23 after its last seed\n");
  CHECK(all.failures == std::vector<bool>{false, false, true, true});
}

TEST_CASE("no seeds, no workers") {
  CHECK(run(0, 0, 2, [](std::uint64_t) { return Outcome{}; }).texts.empty());
}

}  // namespace liqo::sim
