#include "kube/runtime/backoff.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("pauses double up to the longest one, each less up to a quarter") {
  const BackoffPolicy policy{100ms, 1s};
  Random random(1);
  struct Case {
    int failures;
    Duration full;
  };
  for (const Case& c : {Case{1, 100ms}, Case{2, 200ms}, Case{4, 800ms}, Case{5, 1s}, Case{100, 1s}}) {
    CAPTURE(c.failures);
    for (int i = 0; i < 100; ++i) {
      const Duration pause = policy.pause(c.failures, random);
      CHECK(pause <= c.full);
      CHECK(pause >= c.full * 3 / 4);
    }
  }
}
