// Leader election by a Lease: one replica, and two that a bad network keeps apart.
#include "kube/runtime/leader_elector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime_fixture.hpp"
#include "support/captured_stderr.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

const ObjectKey lease_key{"liqo", "liqod"};
constexpr Duration late = 75s;

/// One replica with its own way to the server. It can be stopped and restarted.
struct Replica {
  Replica(Simulator& simulator, FakeApiServer& server, std::string identity)
      : simulator_(simulator),
        link(simulator, server, identity),
        transport_(link),
        random_(simulator.random().next()),
        api_(transport_, simulator.clock(), random_, metrics_, {.cluster = "milan"}),
        identity_(std::move(identity)) {}

  void start() {
    elector = std::make_unique<LeaderElector>(
        simulator_.executor(), api_,
        LeaderElectionSettings{
            .lease = lease_key, .identity = identity_, .late_requests = late, .rewound = [this] { ++rewinds; }});
    group_ = std::make_unique<async::TaskGroup>(simulator_.executor());
    group_->spawn(elector->run());
  }
  asio::awaitable<void> stop() {
    if (group_) co_await group_->stop();
  }
  bool may_write() const { return elector && elector->may_write(); }

 private:
  Simulator& simulator_;

 public:
  SimLink link;
  std::unique_ptr<LeaderElector> elector;
  int rewinds = 0;

 private:
  SimTransport transport_;
  Random random_;
  Metrics metrics_;
  Api api_;
  std::string identity_;
  std::unique_ptr<async::TaskGroup> group_;
};

struct World {
  explicit World(std::uint64_t seed = 1) : simulator(seed) {}
  ~World() {
    simulator.run(one.stop());
    simulator.run(two.stop());
  }
  bool reaches(const std::function<bool()>& holds, Duration limit = 1min) {
    return simulator.run_until(holds, limit) == Simulator::End::reached;
  }
  std::string holder() {
    return std::string(string_at(*server.get(resources::leases, lease_key), {"spec", "holderIdentity"}));
  }
  Simulator simulator;
  FakeApiServer server{simulator.clock()};
  Replica one{simulator, server, "one"}, two{simulator, server, "two"};
};

/// Partitions, refusals, faults and restarts, until the time is over.
asio::awaitable<void> trouble(World& w, Random& random, Duration length) {
  auto& clock = w.simulator.clock();
  const TimePoint end = clock.now() + length;
  while (clock.now() < end) {
    Replica& replica = random.chance(0.5) ? w.one : w.two;
    switch (random.between(0, 4)) {
      case 0:
        replica.link.partition();
        break;
      case 1:
        replica.link.refuse();
        break;
      case 2:
        co_await replica.stop();
        CHECK_FALSE(replica.may_write());
        replica.start();
        break;
      default: {
        FaultRates faults;
        faults.latency_high = std::chrono::milliseconds(random.between(5, 6000));
        faults.lost_answer = 0.3 * random.unit();
        faults.throttled = 0.2 * random.unit();
        faults.retry_after = std::chrono::seconds(random.between(1, 20));
        faults.slow = 0.2 * random.unit();
        faults.repeat_after = std::chrono::seconds(random.between(0, 12));
        replica.link.set_faults(faults);
      }
    }
    co_await clock.sleep(std::chrono::milliseconds(random.between(500, 20'000)));
    if (random.chance(0.7)) replica.link.heal();
  }
  for (Replica* replica : {&w.one, &w.two}) {
    replica->link.heal();
    replica->link.set_faults({});
  }
}

}  // namespace

TEST_CASE("of two replicas never both may write, whatever the network does, and in the end one does") {
  int terms = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    World w(seed);
    Random random(seed * 2654435761u + 3);
    w.one.start();
    w.two.start();
    bool over = false, both = false;
    bool led = false;
    const auto act = [&]() -> asio::awaitable<void> {
      co_await trouble(w, random, 5min);
      over = true;
    };
    async::TaskGroup group(w.simulator.executor());
    group.spawn(act());
    REQUIRE(w.reaches(
        [&] {
          both |= w.one.may_write() && w.two.may_write();
          const bool leads = w.one.may_write() || w.two.may_write();
          terms += leads && !led ? 1 : 0;
          led = leads;
          return over;
        },
        1h));
    w.simulator.run(group.join());
    CHECK_FALSE(both);
    CHECK(w.reaches([&] { return w.one.may_write() != w.two.may_write(); }));
  }
  CHECK(terms > 300);
}

TEST_CASE("of two replicas that make the lease at once one is too late, and has nothing to complain of") {
  World w;
  const test::CapturedStderr log;
  w.one.start();
  w.two.start();
  REQUIRE(w.reaches([&] { return w.one.may_write() || w.two.may_write(); }));
  w.simulator.run_for(1min);
  CHECK(log.lines_with("the lease cannot") == 0);
}

TEST_CASE("a replica that does not lead tells of a server that hangs") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  w.two.start();
  const test::CapturedStderr log;
  w.two.link.partition();
  CHECK(w.reaches([&] { return log.lines_with("the lease cannot be read or written") > 0; }));
}

TEST_CASE("a foreign lease is counted from the moment when it was read") {
  World w;
  w.two.start();
  REQUIRE(w.reaches([&] { return w.two.may_write(); }));
  // The read takes nine seconds to the server, and the leader renews just before it gets there.
  FaultRates slow;
  slow.latency_low = slow.latency_high = 9s;
  w.one.link.set_faults(slow);
  w.one.start();
  REQUIRE(w.simulator.run_for(1s) == Simulator::End::reached);
  w.one.link.set_faults({});
  REQUIRE(w.simulator.run_for(8050ms) == Simulator::End::reached);
  // From here on the leader is alone with its lease until its fence.
  w.two.link.partition();
  bool both = false;
  CHECK(w.reaches([&] {
    both |= w.one.may_write() && w.two.may_write();
    return w.one.may_write();
  }));
  CHECK_FALSE(both);
}

TEST_CASE("leadership falls at the fence, not when a request that hangs has ended") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  w.one.link.partition();
  bool fell = false;
  CHECK(w.reaches([&] {
    // A waiter for the loss must not be woken later than writes are refused.
    if (!w.one.may_write()) fell = true;
    if (fell) CHECK_FALSE(w.one.elector->is_leader());
    return fell;
  }));
}

TEST_CASE("who stops leads no longer, and then gives the lease back") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  bool led_when_released = false;
  w.server.store().on_change([&](const FakeChange& change) {
    if (change.key == lease_key && string_at(*change.after, {"spec", "holderIdentity"}).empty())
      led_when_released = w.one.elector->is_leader() || w.one.may_write();
  });
  w.simulator.run(w.one.stop());
  CHECK_FALSE(led_when_released);
  CHECK(string_at(*w.server.get(resources::leases, lease_key), {"spec", "holderIdentity"}).empty());
  w.two.start();
  CHECK(w.reaches([&] { return w.two.may_write(); }, 5s));
}

TEST_CASE(
    "who finds a lease expired inherits the doubt about the last leader's requests, and does not release it then") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  CHECK(w.one.elector->inherited_doubt_until() == TimePoint());
  w.one.link.partition();
  w.two.start();
  REQUIRE(w.reaches([&] { return w.two.may_write(); }));
  const TimePoint until = w.two.elector->inherited_doubt_until();
  CHECK(until > w.simulator.clock().now() + late - 1s);
  CHECK(until <= w.simulator.clock().now() + late);
  SUBCASE("nor the one after it, if that comes before the doubt is over") {
    w.simulator.run(w.two.stop());
    CHECK(w.holder() == "two");
    w.one.link.heal();
    REQUIRE(w.reaches([&] { return w.one.may_write(); }));
    CHECK(w.one.elector->inherited_doubt_until() > w.simulator.clock().now());
  }
  SUBCASE("unless the doubt is over") {
    w.simulator.run_for(late);
    w.simulator.run(w.two.stop());
    CHECK(w.holder().empty());
    w.one.link.heal();
    REQUIRE(w.reaches([&] { return w.one.may_write(); }));
    CHECK(w.one.elector->inherited_doubt_until() < w.simulator.clock().now());
  }
}

TEST_CASE("a process that finds the lease in its own name, and has not led, inherits the doubt as well") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  // Killed, and restarted in its pod.
  w.one.link.partition();
  w.simulator.run(w.one.stop());
  w.one.link.heal();
  REQUIRE(w.holder() == "one");
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }, 5s));
  CHECK(w.one.elector->inherited_doubt_until() > w.simulator.clock().now() + late - 5s);
}

TEST_CASE("who led before inherits the doubt about another one also where the answer to its taking over is lost") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  w.one.link.partition();
  w.two.start();
  REQUIRE(w.reaches([&] { return w.two.may_write(); }));
  w.simulator.run_for(late);
  w.one.link.heal();
  w.two.link.partition();
  bool is_lost = false;
  w.one.link.on_send([&](const HttpRequest& request) {
    w.one.link.set_faults({.lost_answer = request.method == "PUT" && !std::exchange(is_lost, true) ? 1.0 : 0.0});
  });
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  w.one.link.on_send({});
  REQUIRE(is_lost);
  CHECK(w.one.elector->inherited_doubt_until() > w.simulator.clock().now());
}

TEST_CASE("who leaves a doubt does not release the lease, and who has only lost and regained it inherits none") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  w.one.link.partition();
  REQUIRE(w.reaches([&] { return !w.one.may_write(); }));
  w.one.link.heal();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  CHECK(w.one.elector->inherited_doubt_until() == TimePoint());
  w.one.elector->leave_doubt(w.simulator.clock().now() + 10s);
  // An earlier end is no end.
  w.one.elector->leave_doubt(w.simulator.clock().now() + 1s);
  w.simulator.run_for(5s);
  w.simulator.run(w.one.stop());
  CHECK(w.holder() == "one");
  w.two.start();
  REQUIRE(w.reaches([&] { return w.two.may_write(); }));
  CHECK(w.two.elector->inherited_doubt_until() > w.simulator.clock().now());
}

TEST_CASE("a lease that reads older than it was written tells of a restored database") {
  World w;
  w.one.start();
  REQUIRE(w.reaches([&] { return w.one.may_write(); }));
  const std::uint64_t snapshot = w.server.store().version();
  REQUIRE(w.simulator.run_for(10s) == Simulator::End::reached);
  CHECK(w.one.rewinds == 0);
  w.server.store().rewind(snapshot);
  // The new history passes the old one.
  for (int i = 0; i < 100; ++i)
    REQUIRE(w.server.create(resources::config_maps,
                            {{"metadata", json::object{{"name", std::to_string(i)}, {"namespace", "d"}}}}, "user"));
  CHECK(w.reaches([&] { return w.one.rewinds == 1; }));
  REQUIRE(w.simulator.run_for(1min) == Simulator::End::reached);
  CHECK(w.one.rewinds == 1);
  CHECK(w.one.may_write());
}

TEST_CASE("tries for the lease come at uneven times, and none later than the retry period") {
  World w;
  w.one.start();
  REQUIRE(w.simulator.run_for(2min) == Simulator::End::reached);
  std::vector<Duration> pauses;
  for (std::size_t i = 1; i < w.server.writes().size(); ++i)
    pauses.push_back(w.server.writes()[i].at - w.server.writes()[i - 1].at);
  REQUIRE(pauses.size() > 50);
  const auto [least, most] = std::ranges::minmax(pauses);
  CHECK(least > 1500ms);
  CHECK(least < 1700ms);
  // The answers take their time, too.
  CHECK(most < 2100ms);
}

TEST_CASE("times by which two could lead are refused") {
  RuntimeFixture f;
  const auto make = [&](Duration lease, Duration renew, Duration retry) {
    LeaderElector(f.simulator.executor(), f.api,
                  {.lease = lease_key,
                   .identity = "one",
                   .lease_duration = lease,
                   .renew_deadline = renew,
                   .retry_period = retry});
  };
  CHECK_NOTHROW(make(15s, 10s, 2s));
  CHECK_THROWS_AS(make(10s, 10s, 2s), std::invalid_argument);
  CHECK_THROWS_AS(make(15s, 2s, 2s), std::invalid_argument);
}
