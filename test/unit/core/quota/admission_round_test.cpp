#include "core/quota/admission_round.hpp"

#include <doctest/doctest.h>

#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace {

using namespace liqo::core;
namespace json = kube::json;
using Ruling = QuotaVerdict::Ruling;
using Basis = AdmissionRound::Basis;

const kube::ObjectKey quota_key{"liqo-tenant-rome", "pool"};

Resources cpu(std::string_view amount) { return *read_resources(json::object{{"cpu", amount}}); }

Reservation reservation(std::string pod, std::string_view amount, bool unproven = false) {
  return {.pod = {"shop", std::move(pod)}, .demand = cpu(amount), .unproven = unproven};
}

/// "key" asks for so much, for the pod of that name.
QuotaQuestion question(std::string key, std::string pod, std::string_view amount) {
  QuotaQuestion asked;
  asked.key = std::move(key);
  asked.reservation = reservation(std::move(pod), amount);
  asked.bytes = reservation_bytes(asked.key, asked.reservation);
  const json::object requests{{"cpu", amount}, {"memory", "1Mi"}};
  asked.needs = *read_pod_needs(
      {{"containers",
        json::array{json::object{{"name", "main"}, {"resources", json::object{{"requests", requests}}}}}}});
  return asked;
}

QuotaQuestion unproven(QuotaQuestion asked, bool may_be_large = false) {
  asked.reservation.unproven = true;
  asked.claimant = {.address = "10.0.0.9", .proven = false, .may_be_large = may_be_large};
  return asked;
}

/// Grants 8 cores, of which so much is taken besides what the record holds.
QuotaStanding standing(std::string_view used = "0") {
  return {.state = {.quota = quota_key, .hard = cpu("8"), .used = cpu(used)},
          .closed = {},
          .enforcement = Enforcement::none};
}

/// A round that goes on from these reservations.
AdmissionRound round_of(QuotaStanding now, std::map<std::string, Reservation> held = {}) {
  LedgerRecord record;
  for (auto& [key, one] : held) add(now.state.used, one.demand);
  record.reservations = std::move(held);
  const std::size_t bytes = record.text().size();
  return {std::move(now), std::move(record), bytes};
}

kube::Object quota(json::object spec, bool drained = false) {
  auto made = kube::Object::make(liqo::api::kinds::quotas, quota_key);
  made.tree()["spec"] = std::move(spec);
  if (drained) made.set_annotation(liqo::api::annotations::drained, "true");
  return made;
}

}  // namespace

TEST_CASE("what a Quota says") {
  struct Case {
    const char* name;
    kube::Object object;
    std::optional<QuotaRefusal> closed;
  };
  for (const Case& c :
       {Case{"open", quota({{"resources", json::object{{"cpu", "8"}}}}), std::nullopt},
        Case{"cordoned", quota({{"resources", json::object{{"cpu", "8"}}}, {"cordoned", true}}),
             QuotaRefusal::cordoned},
        Case{"drained", quota({{"resources", json::object{{"cpu", "8"}}}, {"cordoned", true}}, true),
             QuotaRefusal::drained},
        Case{"malformed", quota({{"resources", json::object{{"cpu", "much"}}}}), QuotaRefusal::malformed}}) {
    CAPTURE(c.name);
    const QuotaStanding read = read_standing(liqo::api::Quota(c.object), Counting::exact);
    CHECK(read.state.quota == quota_key);
    REQUIRE(read.closed.has_value() == c.closed.has_value());
    if (c.closed) CHECK(read.closed->reason == *c.closed);
    // Who asks for more is refused for it, who asks for less is not.
    AdmissionRound round = round_of(read);
    const auto more = round.decide(question("uid-1", "web", "1"), {});
    if (c.closed) CHECK(more.verdict.text == read.closed->text);
  }
}

TEST_CASE("a round admits until the quota is full, one after the other") {
  AdmissionRound round = round_of(standing("3"), {{"uid-1", reservation("web", "2")}});
  const auto first = round.decide(question("uid-2", "db", "2"), {});
  CHECK(first.verdict.ruling == Ruling::admitted);
  CHECK(first.basis == Basis::write);
  const auto second = round.decide(question("uid-3", "mail", "2"), {});
  CHECK(second.verdict.ruling == Ruling::refused);
  CHECK(second.verdict.reason == QuotaRefusal::no_room);
  CHECK(second.verdict.text == "quota liqo-tenant-rome/pool has not enough cpu: asked 2, used 7 of 8, free 1");
  // Another replica may have freed what is missing.
  CHECK(second.basis == Basis::look);
  CHECK(round.decide(question("uid-4", "mail", "1"), {}).verdict.ruling == Ruling::admitted);
  CHECK(round.record().reservations.size() == 3);
}

TEST_CASE("who is known already is admitted without a write") {
  struct Case {
    const char* name;
    std::string key;
    AdmissionRound::Known known;
    Basis basis;
  };
  for (const Case& c : {Case{"reserved", "uid-1", {}, Basis::record},
                        Case{"stored", "uid-2", {.is_stored = true, .is_doubtful = false}, Basis::record},
                        Case{"reserved by another quota, and it fits",
                             "uid-1",
                             {.is_stored = false, .is_doubtful = true},
                             Basis::look}}) {
    CAPTURE(c.name);
    AdmissionRound round = round_of(standing(), {{"uid-1", reservation("web", "8")}});
    const auto decision = round.decide(question(c.key, "web", "8"), c.known);
    CHECK(decision.verdict.ruling == Ruling::admitted);
    CHECK(decision.basis == c.basis);
    CHECK(round.record().reservations.size() == 1);
  }
}

TEST_CASE("a dry run takes no room") {
  AdmissionRound round = round_of(standing());
  QuotaQuestion dry = question("uid-1", "web", "8");
  dry.dry_run = true;
  const auto decision = round.decide(dry, {});
  CHECK(decision.verdict.ruling == Ruling::admitted);
  CHECK(decision.basis == Basis::look);
  CHECK(round.decide(question("uid-2", "db", "8"), {}).basis == Basis::write);
}

TEST_CASE("a ShadowPod that asks for less is let, whatever the quota says; one that grows needs room") {
  QuotaStanding now = standing("8");
  now.closed = QuotaVerdict::refused("cordoned", QuotaRefusal::cordoned);
  AdmissionRound round = round_of(now);
  QuotaQuestion less = question("uid-1/7", "web", "0");
  less.reservation.from = 12;
  drop_zeros(less.reservation.demand);
  CHECK(round.decide(less, {}).verdict.ruling == Ruling::admitted);
  QuotaQuestion more = question("uid-1/8", "web", "1");
  more.reservation.from = 12;
  CHECK(round.decide(more, {}).verdict.reason == QuotaRefusal::cordoned);
}

TEST_CASE("a POST that is repeated is told to wait, and not that the quota is full") {
  AdmissionRound round = round_of(standing(), {{"uid-1", reservation("web", "5")}});
  const auto again = round.decide(question("uid-2", "web", "5"), {});
  CHECK(again.verdict.ruling == Ruling::unavailable);
  CHECK(again.verdict.text.contains("pod shop/web is on its way into storage"));
  CHECK(round.decide(question("uid-3", "db", "5"), {}).verdict.ruling == Ruling::refused);
  // Two of one pod may be on their way, not three.
  AdmissionRound small = round_of(standing(), {{"uid-1", reservation("web", "1")}, {"uid-2", reservation("web", "1")}});
  CHECK(small.decide(question("uid-3", "web", "1"), {}).verdict.ruling == Ruling::unavailable);
}

TEST_CASE("callers whom nothing has proven have a share, and crowd nobody out") {
  AdmissionRound round = round_of(standing());
  CHECK(round.decide(unproven(question("uid-1", "a", "500m")), {}).verdict.ruling == Ruling::admitted);
  // A tenth of 8 cores.
  CHECK(round.decide(unproven(question("uid-2", "b", "500m")), {}).verdict.ruling == Ruling::held_back);
  const auto large = round.decide(unproven(question("uid-3", "c", "4"), true), {});
  CHECK(large.verdict.ruling == Ruling::admitted);
  CHECK(large.is_large);
  CHECK(round.decide(unproven(question("uid-4", "d", "2"), true), {}).verdict.ruling == Ruling::held_back);
  const auto crowded = round.decide(question("uid-5", "e", "6"), {});
  CHECK(crowded.verdict.ruling == Ruling::unavailable);
  CHECK(crowded.verdict.text.contains("held for pods on their way"));
  CHECK(round.decide(question("uid-6", "f", "9"), {}).verdict.ruling == Ruling::refused);
}

TEST_CASE("what a doubtful reservation holds is held while others of its round are decided on") {
  // The quota was lowered after uid-1 had been written down, and strangers hold the rest.
  AdmissionRound round =
      round_of(standing(), {{"uid-1", reservation("web", "5")}, {"uid-2", reservation("stranger", "4", true)}});
  const auto doubtful = round.decide(question("uid-1", "web", "5"), {.is_stored = false, .is_doubtful = true});
  CHECK(doubtful.verdict.ruling == Ruling::unavailable);
  CHECK(round.decide(question("uid-3", "db", "2"), {}).verdict.ruling != Ruling::admitted);
}

TEST_CASE("a record that is full lets nobody in until it has room") {
  std::map<std::string, Reservation> held;
  for (int i = 0; i < 129; ++i)
    held["uid-" + std::to_string(i)] = reservation(std::string(4'000, 'a') + std::to_string(i), "0");
  AdmissionRound round = round_of(standing(), held);
  const auto decision = round.decide(question("uid-x", std::string(4'000, 'b'), "1"), {});
  CHECK(decision.verdict.ruling == Ruling::unavailable);
  CHECK(decision.verdict.text ==
        "quota " + standing().state.quota.text() +
            ": its record is full: too many admitted pods have not been stored yet; ask again");
  CHECK(round.decide(question("uid-y", "small", "1"), {}).verdict.ruling == Ruling::admitted);
}

TEST_CASE("the strictness of a quota is told with its name") {
  QuotaStanding now = standing();
  now.enforcement = Enforcement::soft;
  AdmissionRound round = round_of(now);
  QuotaQuestion asked = question("uid-1", "web", "1");
  const json::object pod{{"containers", json::array{json::object{{"name", "main"}}}}};
  asked.needs = *read_pod_needs(pod);
  const auto decision = round.decide(asked, {});
  CHECK(decision.verdict.reason == QuotaRefusal::enforcement);
  CHECK(decision.verdict.text.ends_with("(quota liqo-tenant-rome/pool)"));
}
