// What home says of a provider that does not act, and what the provider can make of that.
#include "liqo/core/peering/silence.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kube/base/json.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

const kube::WallTime noon = *kube::parse_time("2026-11-21T12:00:00Z");

/// A judge on a clock of its own; whoever owns one looks at the Lease each time that it asks for that.
struct World {
  explicit World(std::string lease_holder = "liqod-1") : holder(std::move(lease_holder)) {}

  Moment now() const {
    return {.at = kube::TimePoint{} + 1h + passed, .wall = noon + round<std::chrono::microseconds>(passed)};
  }
  void step() {
    OrdersSight sight;
    sight.add(orders);
    judge.see(sight, answers, now());
    if (judge.is_look_due(now().at)) {
      ++looks;
      if (readable)
        judge.looked({.holder = holder, .renewed = renewed, .duration = 15s}, now());
      else
        judge.not_looked(now());
    }
    wakes += judge.take_wake();
    if (judge.note() != last) {
      changes += judge.note().words != last.words;
      last = judge.note();
    }
  }
  /// Lets time pass. `renews`: the Lease is renewed each second.
  void pass(std::chrono::seconds time, bool renews = false) {
    for (std::chrono::seconds i = 0s; i < time; ++i) {
      passed += 1s;
      if (renews) renewed = kube::format_micro_time(now().wall);
      step();
    }
  }
  void act(const char* order) {
    orders.close(order, OpenOrders::End::acted, now().at);
    step();
  }
  const std::string& words() const { return judge.note().words; }

  kube::Duration passed{};
  std::string holder, renewed = "2026-11-21T11:59:58.000000Z";
  bool readable = true, answers = true;
  OpenOrders orders;
  SilenceJudge judge{"milan"};
  SilenceNote last;
  int looks = 0, changes = 0, wakes = 0;
};

}  // namespace

TEST_CASE("a provider is not looked at while nothing waits, nor before an order has waited for 10 s") {
  World world;
  world.pass(60s);
  CHECK(world.looks == 0);
  world.orders.open("pod a", world.now());
  world.pass(9s);
  CHECK(world.looks == 0);
  world.pass(1s);
  CHECK(world.looks == 1);
  world.answers = false;
  world.pass(30s);
  CHECK(world.looks == 1);
}

TEST_CASE("a Lease that nobody holds proves at the first look that nobody leads") {
  World world("");
  world.orders.open("pod a", world.now());
  world.orders.open("pod b", world.now());
  world.pass(9s);
  CHECK(world.words().empty());
  world.pass(1s);
  CHECK(world.words() ==
        "Liqo of cluster milan has not run since 11:59:58 UTC; it has 2 orders of yours: ask its operator to start "
        "liqod");
  CHECK(world.judge.note().proven);
  CHECK(!world.judge.note().closes);
  world.pass(59s);
  CHECK(!world.judge.note().closes);
  world.pass(1s);
  CHECK(world.judge.note().closes);
  CHECK(world.changes == 1);
}

TEST_CASE("a Lease that is held proves it once it was not renewed for its duration") {
  World world;
  world.orders.open("slice s", world.now());
  world.pass(25s);
  CHECK(world.words().empty());
  world.pass(5s);
  CHECK(world.words().contains("has not run since 11:59:58 UTC; it has 1 order of yours"));
}

TEST_CASE("a provider that renews its Lease only takes its time") {
  World world;
  world.orders.open("pod a", world.now());
  world.pass(300s, true);
  CHECK(world.words().empty());
  CHECK(world.looks <= 100);
}

TEST_CASE("where the Lease cannot be read home tells what it sees, until the provider acts") {
  World world;
  world.readable = false;
  world.orders.open("pod a", world.now());
  world.pass(10s);
  CHECK(world.words() ==
        "cluster milan has not acted upon 1 order of yours since 12:00:00 UTC: ask its operator whether Liqo runs "
        "there");
  CHECK(!world.judge.note().proven);
  world.pass(600s);
  CHECK(!world.judge.note().closes);
  CHECK(world.changes == 1);
  world.act("pod a");
  CHECK(world.words().empty());
}

TEST_CASE("a Lease that becomes readable replaces what home has seen by what it proves") {
  World world;
  world.readable = false;
  world.orders.open("pod a", world.now());
  world.pass(12s);
  world.readable = true;
  world.pass(40s);
  CHECK(world.judge.note().proven);
  CHECK(world.changes == 2);
}

TEST_CASE("the time of the provider is shown where it is plausible, and never believed") {
  struct Row {
    const char *renewed, *since;
  };
  for (const Row& row :
       {Row{"2026-11-21T11:59:58.000000Z", "since 11:59:58 UTC"},
        Row{"2026-11-19T11:59:58Z", "since 2026-11-19 11:59:58 UTC"}, Row{"2126-11-21T11:59:58Z", "since 12:00:10 UTC"},
        Row{"1970-01-01T00:00:00Z", "since 12:00:10 UTC"}, Row{"yesterday", "since 12:00:10 UTC"},
        Row{"", "since 12:00:10 UTC"}}) {
    CAPTURE(row.renewed);
    World world;
    world.renewed = row.renewed;
    world.orders.open("pod a", world.now());
    world.pass(30s);
    CHECK(world.words().contains(row.since));
    // A Lease that is renewed into the past or the future is renewed all the same.
    World alive;
    alive.orders.open("pod a", alive.now());
    for (int i = 0; i < 300; ++i) {
      alive.renewed = row.renewed + std::to_string(i);
      alive.pass(1s);
    }
    CHECK(alive.words().empty());
  }
}

TEST_CASE("what is told stays until an order is acted upon, or the Lease is renewed twice in a row") {
  World world;
  world.orders.open("pod a", world.now());
  world.orders.open("pod b", world.now());
  world.pass(120s);
  REQUIRE(world.judge.note().closes);
  SUBCASE("acted upon") {
    world.act("pod a");
    CHECK(world.words().empty());
  }
  SUBCASE("a withdrawn order says nothing") {
    world.orders.close("pod a", OpenOrders::End::withdrawn, world.now().at);
    world.pass(5s);
    CHECK(world.judge.note().closes);
  }
  SUBCASE("renewed once") {
    world.pass(6s);
    world.renewed = "x";
    world.pass(60s);
    CHECK(world.judge.note().closes);
    CHECK(world.wakes == 1);
  }
  SUBCASE("renewed again and again: what waits is tried at each renewal") {
    world.pass(6s, true);
    CHECK(world.wakes >= 1);
    world.pass(6s, true);
    CHECK(world.words().empty());
    const int before = world.wakes;
    world.pass(6s, true);
    CHECK(world.wakes > before);
    // ... and not for ever.
    world.pass(40s, true);
    const int later = world.wakes;
    world.pass(60s, true);
    CHECK(world.wakes == later);
  }
  SUBCASE("one failed look, or one failed probe, opens no Node") {
    world.readable = false;
    world.pass(20s);
    world.readable = true;
    world.answers = false;
    world.pass(20s);
    CHECK(world.judge.note().closes);
  }
  SUBCASE("not read for a minute") {
    world.readable = false;
    world.pass(70s);
    CHECK(!world.judge.note().closes);
  }
  SUBCASE("nothing waits for ten minutes") {
    world.orders.close("pod a", OpenOrders::End::withdrawn, world.now().at);
    world.orders.close("pod b", OpenOrders::End::withdrawn, world.now().at);
    world.pass(599s);
    CHECK(world.judge.note().closes);
    world.pass(2s);
    CHECK(world.words().empty());
    const int before = world.looks;
    world.pass(60s);
    CHECK(world.looks == before);
  }
}

TEST_CASE("a Lease that an earlier installation has left closes nothing once orders were acted upon") {
  World world;
  for (int i = 0; i < 20; ++i) {
    const std::string order = "pod " + std::to_string(i);
    world.orders.open(order, world.now());
    world.pass(40s);
    CHECK(!world.judge.note().closes);
    world.act(order.c_str());
  }
  // The first may be told: nobody can know. From then on home tells what it sees.
  world.orders.open("last", world.now());
  world.pass(600s);
  CHECK(!world.judge.note().proven);
}

TEST_CASE("a provider that toggles its Lease, or its rights, changes little of what is told") {
  World world;
  world.orders.open("pod a", world.now());
  for (int round = 0; round < 200; ++round) {
    world.pass(40s);
    world.pass(10s, true);
    world.readable = round % 3 != 0;
  }
  // 10,000 s: one telling and one end of it in about four minutes, after a few at the beginning.
  CHECK(world.changes < 90);
  CHECK(world.looks < 5000);
}

TEST_CASE("a hostile provider that acts upon one order a moment changes little, too") {
  World world;
  for (int i = 0; i < 400; ++i) {
    const std::string order = "pod " + std::to_string(i);
    world.orders.open(order, world.now());
    world.renewed = std::to_string(i);
    world.pass(28s);
    world.act(order.c_str());
  }
  CHECK(world.changes < 100);
}

TEST_CASE("a judge that has just begun takes nothing back that was told before") {
  World world;
  world.step();
  CHECK(!world.judge.is_settled(world.now().at));
  world.pass(89s);
  CHECK(!world.judge.is_settled(world.now().at));
  world.pass(1s);
  CHECK(world.judge.is_settled(world.now().at));
}

TEST_CASE("a Lease is read within bounds") {
  const auto read = [](const char* spec) {
    kube::Object lease = kube::Object::make(kube::resources::leases, {"liqo", "liqod"});
    lease.mutable_spec() = kube::json::parse(spec).as_object();
    return read_leader(lease);
  };
  CHECK(read(R"({"holderIdentity": "liqod-1", "leaseDurationSeconds": 15})").duration == 15s);
  CHECK(read(R"({"leaseDurationSeconds": 1})").duration == 5s);
  CHECK(read(R"({"leaseDurationSeconds": -1})").duration == 5s);
  CHECK(read(R"({"leaseDurationSeconds": 9000000000})").duration == 60s);
  CHECK(read(R"({"leaseDurationSeconds": "15", "holderIdentity": 7})").holder.empty());
  kube::json::object long_spec{{"renewTime", std::string(100'000, '1')}};
  kube::Object lease = kube::Object::make(kube::resources::leases, {"liqo", "liqod"});
  lease.mutable_spec() = long_spec;
  CHECK(read_leader(lease).renewed.size() == 64);
}

TEST_CASE("a note is found again behind other words") {
  const std::string silent = "Liqo of cluster milan has not run since 11:59:58 UTC; it has 2 orders of yours: ask x";
  const std::string server = "the API server of the peer is ready";
  for (const SilenceNote& note :
       {SilenceNote{.words = silent, .proven = true, .closes = true},
        SilenceNote{.words = silent, .proven = true, .closes = false},
        SilenceNote{.words = "cluster milan has not acted upon 1 order", .proven = false, .closes = false},
        SilenceNote{}}) {
    CHECK(silence_note(std::string_view(with_silence(server, note))) == note);
    CHECK(silence_note(std::string_view(with_silence("", note))) == note);
    CHECK(silence_note(std::string_view(with_silence(server, note) + "; its clock is 60 min ahead")) == note);
  }
}

}  // namespace liqo::core
