// When a peer's clock is worth a report.
#include "core/peering/clock_skew.hpp"

#include <doctest/doctest.h>

namespace liqo::core {

using namespace std::chrono_literals;

TEST_CASE("a clock that is off by more than a minute is told, once, and again where it has moved or is right") {
  struct Row {
    std::chrono::seconds told, measured, then;
  };
  for (const Row& row :
       {Row{0s, 0s, 0s}, Row{0s, 60s, 0s}, Row{0s, -60s, 0s}, Row{0s, 61s, 61s}, Row{0s, -61s, -61s},
        Row{0s, 3600s, 3600s}, Row{3600s, 3590s, 3600s}, Row{3600s, 3660s, 3600s}, Row{3600s, 3661s, 3661s},
        Row{61s, 60s, 61s}, Row{61s, 50s, 61s}, Row{61s, 49s, 0s}, Row{61s, -61s, -61s}, Row{-3600s, 0s, 0s}}) {
    CAPTURE(row.told.count());
    CAPTURE(row.measured.count());
    CHECK(settle_clock(row.told, row.measured) == row.then);
  }
}

TEST_CASE("it is told in words that say what to do, and found again behind others") {
  CHECK(describe_clock(3600s).starts_with("its clock is 60 min ahead of ours"));
  CHECK(describe_clock(-75s).starts_with("its clock is 75 s behind ours"));
  CHECK(describe_clock(-86400s).starts_with("its clock is 24 h behind ours"));
  CHECK(describe_clock(61s).ends_with("synchronise the clocks of both clusters"));
  CHECK(clock_note("the API server is ready; " + describe_clock(61s)) == describe_clock(61s));
  CHECK(clock_note("the API server is ready").empty());
}

}  // namespace liqo::core
