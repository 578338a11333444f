// A stored ShadowPod may prove that the caller who asked about it is an API server.
#include "quota/caller_proofs.hpp"

#include <doctest/doctest.h>

#include "kube/testing/sim/simulator.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey quota_key{"liqo-tenant-rome", "pool"};
const kube::TimePoint start{};

/// Asks for pod shop/web of user "pool" under UID "uid".
struct Asking {
  Asking() : question(simulator.executor()) {
    question.key = "uid";
    question.reservation = {.pod = {"shop", "web"}, .demand = {}};
    question.user = "pool";
    question.claimant = {.address = "10.0.0.9", .proven = false, .may_be_large = false};
  }
  kube::testing::Simulator simulator{1};
  DeskQuestion question;
};

core::HeldShadow shadow(std::string uid = "uid", std::string user = "pool") {
  return {.uid = std::move(uid), .user = std::move(user), .demand = {}, .finished = false, .version = 7};
}

TEST_CASE("a ShadowPod that is stored as it was asked for proves its caller, once") {
  Asking asking;
  CallerProofs proofs(70s);
  CHECK_FALSE(proofs.confirm({"shop", "web"}, shadow()));
  proofs.watch_for(quota_key, asking.question, true, start);
  const auto confirmed = proofs.confirm({"shop", "web"}, shadow());
  REQUIRE(confirmed);
  CHECK(confirmed->quota == quota_key);
  CHECK(confirmed->address == "10.0.0.9");
  CHECK(confirmed->large);
  CHECK_FALSE(proofs.confirm({"shop", "web"}, shadow()));
}

TEST_CASE("what anybody could have asked proves nothing") {
  struct Case {
    const char* name;
    kube::ObjectKey pod;
    core::HeldShadow stored;
  };
  for (const Case& c :
       {Case{"another UID", {"shop", "web"}, shadow("uid-2")}, Case{"another pod", {"shop", "db"}, shadow()},
        Case{"another user", {"shop", "web"}, shadow("uid", "batch")}}) {
    CAPTURE(c.name);
    Asking asking;
    CallerProofs proofs(70s);
    proofs.watch_for(quota_key, asking.question, false, start);
    CHECK_FALSE(proofs.confirm(c.pod, c.stored));
  }
  Asking asking;
  CallerProofs proofs(70s);
  SUBCASE("about a ShadowPod that is stored already") { asking.question.reservation.from = 7; }
  SUBCASE("from nowhere") { asking.question.claimant.address = ""; }
  proofs.watch_for(quota_key, asking.question, false, start);
  CHECK_FALSE(proofs.confirm({"shop", "web"}, shadow()));
}

TEST_CASE("a reservation that is not stored in time is forgotten with the next one") {
  Asking asking;
  CallerProofs proofs(70s);
  proofs.watch_for(quota_key, asking.question, false, start);
  asking.question.key = "uid-2";
  proofs.watch_for(quota_key, asking.question, false, start + 71s);
  CHECK_FALSE(proofs.confirm({"shop", "web"}, shadow()));
  CHECK(proofs.confirm({"shop", "web"}, shadow("uid-2")));
}

TEST_CASE("a proven address is watched for once a minute") {
  Asking asking;
  asking.question.claimant.proven = true;
  CallerProofs proofs(70s);
  proofs.watch_for(quota_key, asking.question, false, start);
  CHECK(proofs.confirm({"shop", "web"}, shadow()));
  proofs.watch_for(quota_key, asking.question, false, start + 59s);
  CHECK_FALSE(proofs.confirm({"shop", "web"}, shadow()));
  proofs.watch_for(quota_key, asking.question, false, start + 60s);
  CHECK(proofs.confirm({"shop", "web"}, shadow()));
}

}  // namespace
}  // namespace liqo::quota
