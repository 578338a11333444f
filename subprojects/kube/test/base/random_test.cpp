#include "kube/base/random.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("a duration is drawn from both ends and between, and anew by the same seed") {
  Random random(7), same(7);
  for (int i = 0; i < 100; ++i) {
    const Duration drawn = random.between(1ms, 2s);
    CHECK(drawn >= 1ms);
    CHECK(drawn <= 2s);
    CHECK(drawn == same.between(1ms, 2s));
  }
  CHECK(random.between(3s, 3s) == 3s);
}
