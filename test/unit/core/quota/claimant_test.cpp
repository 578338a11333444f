#include "core/quota/claimant.hpp"

#include <doctest/doctest.h>

#include "test_amounts.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

using testing::resources;

TEST_CASE("unproven callers hold a tenth of each resource together") {
  const Resources hard = resources({{"cpu", "8"}, {"memory", "10Gi"}, {"pods", "20"}});
  struct Case {
    Resources held, demand;
    bool is_within;
  };
  const Case cases[] = {
      {{}, resources({{"cpu", "800m"}, {"memory", "1Gi"}, {"pods", "1"}}), true},
      {{}, resources({{"cpu", "801m"}}), false},
      {{}, resources({{"memory", "1025Mi"}, {"cpu", "1m"}}), false},
      {resources({{"cpu", "500m"}}), resources({{"cpu", "300m"}}), true},
      {resources({{"cpu", "500m"}}), resources({{"cpu", "301m"}}), false},
      {resources({{"pods", "2"}}), resources({{"pods", "1"}}), false},
      // What is not asked for, or not granted, is judged elsewhere.
      {resources({{"cpu", "8"}}), resources({{"cpu", "0"}, {"memory", "1Mi"}}), true},
      {{}, resources({{"nvidia.com/gpu", "4"}}), true},
      {{}, {}, true},
  };
  for (const Case& each : cases)
    CHECK(is_within_share({.demand = each.held, .reservations = 1}, each.demand, hard) == each.is_within);
}

TEST_CASE("that they hold more than that is seen by what they hold") {
  const Resources hard = resources({{"cpu", "8"}});
  CHECK_FALSE(is_beyond_share({.demand = resources({{"cpu", "800m"}}), .reservations = max_unproven}, hard));
  CHECK(is_beyond_share({.demand = resources({{"cpu", "801m"}}), .reservations = 1}, hard));
  CHECK(is_beyond_share({.demand = {}, .reservations = max_unproven + 1}, hard));
  // What is not granted any more is nobody's share.
  CHECK_FALSE(is_beyond_share({.demand = resources({{"memory", "1Gi"}}), .reservations = 1}, hard));
}

TEST_CASE("unproven callers hold so many reservations, be they as small as they like") {
  UnprovenHold held;
  while (is_within_share(held, {}, {})) held.add({});
  CHECK(held.reservations == max_unproven);
}

TEST_CASE("more than the share is held once at a time, and seldom where it comes to nothing") {
  LargeClaims claims;
  kube::TimePoint now{};
  CHECK(claims.may(now));
  // How long after the expiry of one the next may be held.
  for (const kube::Duration pause : {0min, 1min, 2min, 4min, 8min, 16min, 32min, 60min, 60min}) {
    const kube::TimePoint expiry = now + 70s;
    claims.grant(expiry);
    CHECK_FALSE(claims.may(now));
    CHECK_FALSE(claims.may(expiry + pause - 1ns));
    CHECK(claims.may(expiry + pause));
    now = expiry + pause;
  }
  claims.confirm();
  CHECK(claims.may(now));
}

}  // namespace
}  // namespace liqo::core
