#include "metrics/turn_meter.hpp"

#include <doctest/doctest.h>

namespace {

/// A loop whose turns are measured.
struct Loop {
  double wall = 100, cpu = 7;
  int readings = 0;
  liqod::TurnMeter meter{[this] { return wall; },
                         [this] {
                           ++readings;
                           return cpu;
                         }};
  double turn(double busy, double waiting = 0) {
    wall += busy + waiting;
    cpu += busy;
    return meter.ended();
  }
};

}  // namespace

TEST_CASE("a long turn is told by its CPU time, without the wait before it") {
  Loop loop;
  CHECK(loop.turn(0.05, 3) == doctest::Approx(0.05));
  CHECK(loop.turn(0.0002) == doctest::Approx(0.0002));
  CHECK(loop.turn(0, 10) == doctest::Approx(0).epsilon(1e-9));
}

TEST_CASE("short turns cost few readings of the CPU clock, and are told right") {
  Loop loop;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += loop.turn(0.000005);
  CHECK(sum == doctest::Approx(0.005));
  CHECK(loop.readings < 15);
}

TEST_CASE("waits that are as short as turns hide 1 ms of a long one at most") {
  Loop loop;
  for (int i = 0; i < 1000; ++i) {
    CHECK(loop.turn(0, 0.00045) <= 0.0005);
    if (i % 7 == 0) CHECK(loop.turn(0.02) >= 0.019);
  }
}
