// A provider that does not answer: kubectl gets its name within five seconds. A provider that is only slow is waited
// for.
#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/command_connection.hpp"
#include "one_node_server.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
namespace asio = boost::asio;
namespace wire = kube::wire;

/// A body that comes byte by byte, each a second after the one before, and never ends.
class SlowBody final : public kube::net::Body {
 public:
  explicit SlowBody(kube::async::Clock& clock) : clock_(clock) {}
  asio::awaitable<kube::Result<std::string>> read() override {
    co_await clock_.sleep(1s);
    co_return std::string("x");
  }

 private:
  kube::async::Clock& clock_;
};

/// A provider whose logs come after a while, and whose new connections are made never or at once.
class Link final : public kube::net::Transport, public kube::net::Upgrader {
 public:
  Link(kube::async::Clock& clock, kube::Duration log_after, bool can_be_reached)
      : clock_(clock), log_after_(log_after), can_be_reached_(can_be_reached) {}

  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest, kube::Deadline deadline) override {
    if (clock_.now() + log_after_ > deadline.at) {
      co_await clock_.sleep_until(deadline.at);
      co_return kube::fail(kube::Errc::timeout, "no answer in time");
    }
    co_await clock_.sleep(log_after_);
    kube::net::Response response;
    if (refuses_slowly) {
      response.head.status = 500;
      response.body = std::make_unique<SlowBody>(clock_);
      co_return response;
    }
    response.head.status = 200;
    response.body =
        std::make_unique<liqo::test::FakeBody>(std::vector<std::string>{"here\n"}, std::optional<kube::Failure>());
    co_return response;
  }

  asio::awaitable<kube::Result<kube::net::Upgraded>> upgrade(kube::HttpRequest request,
                                                             kube::Deadline deadline) override {
    asked.push_back(request.target);
    if (!can_be_reached_) {
      co_await clock_.sleep_until(deadline.at);
      co_return kube::fail(why, "connecting to 10.0.0.1:6443: no answer in time");
    }
    kube::net::Upgraded answer;
    answer.head.status = 401;
    co_return answer;
  }

  std::vector<std::string> asked;
  kube::Errc why = kube::Errc::timeout;  // it cannot be reached
  bool refuses_slowly = false;           // logs

 private:
  kube::async::Clock& clock_;
  kube::Duration log_after_;
  bool can_be_reached_;
};

struct World : liqo::test::OneNodeServer<Link> {
  FakeResponse response;

  World(kube::Duration log_after, bool can_be_reached) {
    link = std::make_shared<Link>(home.clock, log_after, can_be_reached);
  }

  static kube::net::ServerRequest request(std::string method, std::string target) {
    kube::net::ServerRequest made;
    made.method = std::move(method);
    made.target = std::move(target);
    made.peer = kube::net::PeerIdentity{"admin", {}};
    return made;
  }
};

}  // namespace

TEST_CASE("a log of a provider that is out of reach is refused within five seconds, by its name") {
  World world(1h, false);
  const auto start = world.home.clock.now();
  const auto request = World::request("GET", "/containerLogs/rome/web/main");
  world.home.simulator.run(world.server.handle(request, world.response));
  CHECK(world.home.clock.now() - start < 5s);
  CHECK(world.response.status == 502);
  CHECK(world.response.body.contains("cluster milan cannot be reached: connecting to 10.0.0.1:6443"));
  CHECK(world.link->asked == std::vector<std::string>{"/version"});
}

TEST_CASE("a provider that never ends its refusal of a log is not listened to for more than seconds") {
  World world(0s, true);
  world.link->refuses_slowly = true;
  const auto start = world.home.clock.now();
  const auto request = World::request("GET", "/containerLogs/rome/web/main");
  world.home.simulator.run(world.server.handle(request, world.response), 24h);
  CHECK(world.home.clock.now() - start < 5s);
  CHECK(world.response.status == 500);
  CHECK_FALSE(world.response.body.empty());
}

TEST_CASE("a log that has nothing to say for long is waited for while the provider is there") {
  World world(25s, true);
  const auto request = World::request("GET", "/containerLogs/rome/web/main?follow=true");
  world.home.simulator.run(world.server.handle(request, world.response));
  CHECK(world.response.status == 200);
  CHECK(world.response.body == "here\n");
  CHECK(world.link->asked == std::vector<std::string>{"/version"});
}

TEST_CASE("a log is waited for where whoever looks is stopped himself") {
  World world(25s, false);
  world.link->why = kube::Errc::stopped;
  const auto request = World::request("GET", "/containerLogs/rome/web/main?follow=true");
  world.home.simulator.run(world.server.handle(request, world.response));
  CHECK(world.response.status == 200);
}

TEST_CASE("a log that comes at once has nobody look whether the provider is there") {
  World world(1s, true);
  const auto request = World::request("GET", "/containerLogs/rome/web/main");
  world.home.simulator.run(world.server.handle(request, world.response));
  CHECK(world.response.status == 200);
  CHECK(world.link->asked.empty());
}

TEST_CASE("an exec at a provider that is out of reach is refused within five seconds, by its name") {
  World world(1h, false);
  auto request = World::request("POST", "/exec/rome/web/main?command=true&output=1");
  request.headers = {
      {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "v4.channel.k8s.io"}};
  auto pipes = kube::test::make_pipes(world.home.simulator.executor());
  world.response.stream = std::move(pipes.far);
  kube::CommandConnection caller(
      world.home.simulator.executor(), world.home.clock, std::move(pipes.near),
      wire::make_spdy_command(wire::CommandRole::client, wire::CommandVersion::v4, {.out = true}));
  const auto start = world.home.clock.now();
  std::string told;
  world.home.simulator.run([](World& w, const kube::net::ServerRequest& asked_for, kube::CommandConnection& connection,
                              std::string& status) -> asio::awaitable<void> {
    kube::async::TaskGroup group(w.home.simulator.executor());
    group.spawn(w.server.handle(asked_for, w.response));
    group.spawn(connection.run());
    auto piece = co_await connection.read(wire::CommandChannel::error);
    if (piece) status = *piece;
    connection.close();
    co_await group.join();
  }(world, request, caller, told));
  CHECK(world.home.clock.now() - start < 8s);  // some of it is the goodbye
  CHECK(told.contains("cluster milan cannot be reached: connecting to 10.0.0.1:6443"));
}
