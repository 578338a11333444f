// The reports at home about a provider that does not act, and what the provider can make of them.
#include "core/peering/silence.hpp"

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
    const OpenOrders* parts[] = {&orders};
    judge.see(sight_of(parts), answers, now());
    if (judge.is_look_due(now().at)) {
      ++looks;
      if (readable)
        judge.looked({.holder = holder, .renewed = renewed, .duration = 15s}, now().at, now());
      else
        judge.not_looked(no_look, now());
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
  SilenceJudge::NoLook no_look = SilenceJudge::NoLook::hidden;
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

TEST_CASE("a Lease that nobody holds proves at the second look that nobody leads") {
  World world("");
  world.orders.open("pod a", world.now());
  world.orders.open("pod b", world.now());
  world.pass(12s);
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

TEST_CASE("the number of orders that is told follows, at most every half minute") {
  World world("");
  world.orders.open("pod a", world.now());
  world.pass(13s);
  const std::string others = without_count(world.words());
  CHECK(world.words().contains("; it has 1 order of yours"));
  for (const char* order : {"pod b", "pod c"}) world.orders.open(order, world.now());
  world.pass(29s);
  CHECK(world.words().contains("; it has 1 order of yours"));
  world.pass(1s);
  CHECK(world.words().contains("; it has 3 orders of yours"));
  world.pass(10min);
  CHECK(world.changes == 2);
  for (int i = 0; i < 300; ++i) {
    world.orders.open("pod " + std::to_string(i), world.now());
    world.pass(1s);
  }
  CHECK(world.changes <= 12);
  world.orders.clear();
  world.pass(30s);
  CHECK(world.words() == others);
  CHECK(world.judge.note().proven);
}

TEST_CASE("so does the number that home sees by itself, since the oldest of them") {
  World world;
  world.readable = false;
  world.orders.open("pod a", world.now());
  world.pass(10s);
  world.orders.open("pod b", world.now());
  world.pass(30s);
  CHECK(world.words().contains("has not acted upon 2 orders of yours since 12:00:00 UTC"));
  world.orders.close("pod a", OpenOrders::End::withdrawn, world.now().at);
  world.pass(30s);
  CHECK(world.words().contains("has not acted upon 1 order of yours since 12:00:00 UTC"));
  world.orders.close("pod b", OpenOrders::End::withdrawn, world.now().at);
  world.pass(1s);
  CHECK(world.words().empty());
}

TEST_CASE("words without a number are the same for any number") {
  for (const char* words : {"Liqo of cluster milan has not run since 11:59:58 UTC; it has 2 orders of yours: ask x",
                            "Liqo of cluster milan has not run since 11:59:58 UTC: ask x"})
    CHECK(without_count(words) == "Liqo of cluster milan has not run since 11:59:58 UTC: ask x");
  for (const char* words : {"cluster milan has not acted upon 2 orders of yours since 12:00:00 UTC: ask x",
                            "cluster milan has not acted upon 1 order of yours since 12:00:00 UTC: ask x",
                            "cluster milan has not acted upon orders of yours since 12:00:00 UTC: ask x"})
    CHECK(without_count(words) == "cluster milan has not acted upon orders of yours since 12:00:00 UTC: ask x");
  CHECK(without_count("").empty());
  CHECK(without_count("something else") == "something else");
}

TEST_CASE("what waits is tried again when a provider that was told of acts, and while it is seen for half a minute") {
  World world;
  world.orders.open("pod a", world.now());
  world.orders.open("slice s", world.now());
  world.pass(120s);
  REQUIRE(world.judge.note().proven);
  const int before = world.wakes;
  world.act("pod a");
  CHECK(world.wakes == before + 1);
  // Its webhooks may answer a moment later.
  world.pass(8s, true);
  CHECK(world.wakes > before + 1);
  world.pass(30s, true);
  const int later = world.wakes;
  world.pass(5min, true);
  CHECK(world.wakes == later);
}

TEST_CASE("what waits is tried again also where a provider was away for too short to be told of") {
  World world;
  world.orders.open("slice s", world.now());
  world.pass(14s);
  CHECK(world.wakes == 0);
  world.pass(4s, true);
  CHECK(world.wakes >= 1);
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
  SUBCASE("nothing waits: the Node stays closed while the Lease is stale, and is looked at seldom") {
    world.orders.close("pod a", OpenOrders::End::withdrawn, world.now().at);
    world.orders.close("pod b", OpenOrders::End::withdrawn, world.now().at);
    world.pass(11min);
    CHECK(world.words() == "Liqo of cluster milan has not run since 11:59:58 UTC: ask its operator to start liqod");
    int before = world.looks;
    world.pass(5h);
    CHECK(world.judge.note().closes);
    CHECK(world.looks - before <= 301);
    CHECK(world.changes == 2);
    SUBCASE("... until it is renewed") {
      world.pass(70s, true);
      CHECK(world.words().empty());
    }
    SUBCASE("... for six hours: another Liqo may be there") {
      world.pass(1h);
      CHECK(world.words().empty());
      before = world.looks;
      world.pass(60s);
      CHECK(world.looks == before);
    }
  }
}

TEST_CASE("a replica that gives the Lease back to the next one proves nothing") {
  World world;
  world.orders.open("pod a", world.now());
  for (int round = 0; round < 20; ++round) {
    world.pass(9s, true);
    world.holder.clear();
    world.pass(2s);
    world.holder = "liqod-" + std::to_string(round);
    world.pass(7s, true);
  }
  CHECK(world.words().empty());
}

TEST_CASE("what lies between two looks that are far apart proves nothing") {
  World world;
  world.orders.open("pod a", world.now());
  world.pass(12s);
  // The provider's API server is away, and nobody can renew anything.
  SUBCASE("its probe says so") { world.answers = false; }
  SUBCASE("its answers do") {
    world.readable = false;
    world.no_look = SilenceJudge::NoLook::failed;
  }
  world.pass(14s);
  world.answers = world.readable = true;
  world.pass(3s);
  world.pass(60s, true);
  CHECK(world.changes == 0);
}

TEST_CASE("a slow answer makes no Lease older than it is") {
  SilenceJudge judge("milan");
  OpenOrders orders;
  const OpenOrders* parts[] = {&orders};
  const auto at = [](kube::Duration time) {
    return Moment{.at = kube::TimePoint{} + 1h + time, .wall = noon + round<std::chrono::microseconds>(time)};
  };
  const LeaderSight leader{.holder = "liqod-1", .renewed = "x", .duration = 5s};
  orders.open("pod a", at(0s));
  for (kube::Duration begin : {10s, 14s}) {
    judge.see(sight_of(parts), true, at(begin));
    judge.looked(leader, at(begin).at, at(begin + 4s));
  }
  CHECK(judge.note().words.empty());
  judge.see(sight_of(parts), true, at(20s));
  judge.looked(leader, at(20s).at, at(20s));
  CHECK(judge.note().proven);
}

TEST_CASE("a fault tells nothing before it lasts, and one of hours ago nothing at all") {
  World world;
  world.readable = false;
  world.no_look = SilenceJudge::NoLook::failed;
  world.orders.open("pod a", world.now());
  world.pass(20s);
  CHECK(world.words().empty());
  SUBCASE("it lasts") {
    world.pass(10s);
    CHECK(world.words().contains("has not acted upon 1 order of yours"));
  }
  SUBCASE("the order is withdrawn, and hours later another one waits") {
    world.orders.close("pod a", OpenOrders::End::withdrawn, world.now().at);
    world.pass(3h);
    world.readable = true;
    world.orders.open("pod b", world.now());
    world.pass(60s, true);
    CHECK(world.changes == 0);
  }
}

TEST_CASE("one order that a provider without a Lease leaves behind is not told of once it acts upon others") {
  World world;
  world.readable = false;
  world.orders.open("stuck", world.now());
  world.pass(15s);
  CHECK(world.words().contains("1 order"));
  for (int i = 0; i < 100; ++i) {
    const std::string order = "pod " + std::to_string(i);
    world.orders.open(order, world.now());
    world.pass(8s);
    world.act(order.c_str());
    world.pass(60s);
  }
  CHECK(world.changes == 2);
  CHECK(world.looks < 300);
  // A new one counts, and is counted alone.
  world.orders.open("new", world.now());
  world.pass(12s);
  CHECK(world.words().contains("has not acted upon 1 order of yours"));
}

TEST_CASE("a judge that follows one that had closed the Node closes it with its first proof") {
  World world;
  world.judge.resume({.words = "x", .proven = true, .closes = true});
  SUBCASE("with an order") { world.orders.open("pod a", world.now()); }
  SUBCASE("without one") {}
  world.pass(20s);
  CHECK(world.judge.note().closes);
  CHECK(world.changes == 1);
}

TEST_CASE("a judge that follows one that had closed the Node opens it where the Lease is renewed") {
  World world;
  world.judge.resume({.words = "x", .proven = true, .closes = true});
  world.pass(10s, true);
  CHECK(world.judge.is_settled(world.now().at));
  CHECK(world.words().empty());
}

TEST_CASE("a judge does not close at once because of what was told long ago") {
  World world;
  world.judge.resume({.words = "x", .proven = true, .closes = true});
  world.pass(5min, true);
  world.orders.open("pod a", world.now());
  world.pass(40s);
  CHECK(world.judge.note().proven);
  CHECK(!world.judge.note().closes);
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
  // The first may be reported: nobody can know. From then on home reports what it sees.
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
  // 10,000 s: one report and one end of it in about four minutes, after a few at the beginning.
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
