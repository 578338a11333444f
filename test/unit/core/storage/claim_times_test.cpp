// The memory of claims of StorageClass liqo: their waits, and what may still come late behind them.
#include "core/storage/claim_times.hpp"

#include <doctest/doctest.h>

#include "core/common/late_requests.hpp"

namespace liqo::core::storage {
namespace {

using namespace std::chrono_literals;

const kube::TimePoint begin{1h};

}  // namespace

TEST_CASE("a claim waits from the first look at it until its wait ends") {
  ClaimTimes times;
  CHECK(times.waited("c1", begin) == 0s);
  CHECK(times.waited("c1", begin + 30s) == 30s);
  CHECK(times.waited("c2", begin + 30s) == 0s);
  times.end_wait("c1");
  CHECK(times.waited("c1", begin + 40s) == 0s);
  CHECK(times.waited("c2", begin + 40s) == 10s);
  times.end_wait("c3");
}

TEST_CASE("what got no answer is in doubt until it can no longer be carried out") {
  ClaimTimes times;
  CHECK(times.left_of_doubt("c1", begin) == 0s);
  times.doubt("c1", begin);
  CHECK(times.left_of_doubt("c1", begin + 5s) == late_after - 5s);
  CHECK(times.left_of_doubt("c2", begin + 5s) == 0s);
  CHECK(times.left_of_doubt("c1", begin + late_after) == 0s);
  CHECK(times.left_of_doubt("c1", begin + late_after + 1min) == 0s);
  // The last request counts.
  times.doubt("c1", begin + 20s);
  CHECK(times.left_of_doubt("c1", begin + late_after) == 20s);
}

TEST_CASE("doubts that are over are dropped, and no others") {
  ClaimTimes times;
  times.doubt("c1", begin);
  times.doubt("c2", begin + 10s);
  times.drop_past_doubts(begin + late_after);
  CHECK(times.left_of_doubt("c1", begin) == 0s);
  CHECK(times.left_of_doubt("c2", begin + late_after) == 10s);
}

}  // namespace liqo::core::storage
