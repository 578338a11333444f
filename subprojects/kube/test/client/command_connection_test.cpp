#include "kube/client/command_connection.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/byte_pipe.hpp"

namespace {

using namespace kube;
using namespace std::chrono_literals;
using Channel = wire::CommandChannel;
using kube::testing::Simulator;
using kube::testing::VirtualClock;
using wire::CommandRole;
using wire::CommandVersion;

constexpr wire::CommandStreams all_streams{.in = true, .out = true, .err = true};

std::uint32_t no_mask() { return 0; }

std::unique_ptr<wire::CommandCodec> make_codec(std::string_view protocol, CommandRole role) {
  if (protocol == "spdy") return wire::make_spdy_command(role, CommandVersion::v4, all_streams);
  return wire::make_websocket_command(role, {CommandVersion::v5}, all_streams, no_mask);
}

/// A client and a server joined by pipes, with what they need to run.
struct Session {
  explicit Session(std::string_view protocol, CommandLimits limits = {}, std::size_t pipe = 64 * 1024)
      : pipes(test::make_pipes(simulator.executor(), pipe)),
        client(simulator.executor(), clock, std::move(pipes.near), make_codec(protocol, CommandRole::client), limits),
        server(simulator.executor(), clock, std::move(pipes.far), make_codec(protocol, CommandRole::server), limits) {}

  void run(std::function<asio::awaitable<void>(Session&)> script) {
    simulator.run(
        [](Session& session, auto steps) -> asio::awaitable<void> {
          async::TaskGroup group(session.simulator.executor());
          group.spawn(session.client.run());
          group.spawn(session.server.run());
          const auto ready_client = co_await session.client.ready(session.clock.deadline_in(30s));
          const auto ready_server = co_await session.server.ready(session.clock.deadline_in(30s));
          CHECK(ready_client.has_value());
          CHECK(ready_server.has_value());
          co_await steps(session);
          session.client.close();
          session.server.close();
          co_await group.join();
        }(*this, std::move(script)),
        24h);
  }

  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  test::PipePair pipes;
  CommandConnection client;
  CommandConnection server;
};

asio::awaitable<std::string> read_all(CommandConnection& connection, Channel channel) {
  std::string all;
  while (true) {
    auto piece = co_await connection.read(channel);
    if (!piece) co_return all + "|" + piece.error().text();
    if (piece->empty()) co_return all;
    all += *piece;
  }
}

}  // namespace

TEST_CASE("stdin goes in, output comes out, the ends are told, whatever the protocol") {
  for (const std::string_view protocol : {"spdy", "websocket"}) {
    CAPTURE(protocol);
    Session session(protocol);
    session.run([](Session& s) -> asio::awaitable<void> {
      CHECK(co_await s.client.write(Channel::in, "hello"));
      s.client.finish(Channel::in);
      CHECK(co_await read_all(s.server, Channel::in) == "hello");
      CHECK(co_await s.server.write(Channel::out, "HELLO"));
      CHECK(co_await s.server.write(Channel::error, "{}"));
      for (const auto channel : {Channel::out, Channel::err, Channel::error}) s.server.finish(channel);
      s.server.close();
      CHECK(co_await read_all(s.client, Channel::out) == "HELLO");
      CHECK(co_await read_all(s.client, Channel::err) == "");
      CHECK(co_await read_all(s.client, Channel::error) == "{}");
      CHECK_FALSE(s.client.failure().has_value());
      CHECK((co_await s.client.write(Channel::in, "late")).error().code() == Errc::closed);
    });
  }
}

TEST_CASE("a session that is over before anybody has asked was ready all the same, and can be read to its end") {
  for (const std::string_view protocol : {"spdy", "websocket"}) {
    CAPTURE(protocol);
    Session session(protocol);
    session.simulator.run([](Session& s) -> asio::awaitable<void> {
      async::TaskGroup group(s.simulator.executor());
      group.spawn(s.client.run());
      group.spawn(s.server.run());
      CHECK(co_await s.server.ready(s.clock.deadline_in(30s)));
      CHECK(co_await s.server.write(Channel::out, "short"));
      for (const auto channel : {Channel::out, Channel::err, Channel::error}) s.server.finish(channel);
      s.server.close();
      co_await group.join();
      CHECK(co_await s.client.ready(s.clock.deadline_in(30s)));
      CHECK(co_await read_all(s.client, Channel::out) == "short");
      CHECK((co_await s.client.write(Channel::in, "late")).error().code() == Errc::closed);
    }(session));
  }
}

TEST_CASE("a reader that does not read stops the writer at bounded memory, and nothing is lost") {
  for (const std::string_view protocol : {"spdy", "websocket"}) {
    CAPTURE(protocol);
    constexpr std::size_t much = 8 << 20;
    Session session(protocol, {}, 32 * 1024);
    session.run([](Session& s) -> asio::awaitable<void> {
      std::size_t written = 0;
      async::TaskGroup group(s.simulator.executor());
      group.spawn([](Session& t, std::size_t& count) -> asio::awaitable<void> {
        const std::string block(10000, 'x');
        while (count < much) {
          CHECK(co_await t.server.write(Channel::out, block));
          count += block.size();
        }
        t.server.finish(Channel::out);
        t.server.close();  // over WebSocket a channel of the server ends only with the session
      }(s, written));
      // The clock moves only when nothing else can: by now everything is as full as it gets.
      co_await s.clock.sleep(10min);
      CHECK(written < 300 * 1024);
      std::size_t read = 0;
      while (true) {
        auto piece = co_await s.client.read(Channel::out);
        REQUIRE(piece);
        if (piece->empty()) break;
        CHECK(piece->size() <= 96 * 1024);
        read += piece->size();
      }
      co_await group.join();
      CHECK(read == written);
    });
  }
}

TEST_CASE("a quiet session lives on pings, until it was idle for too long") {
  Session session("spdy", {.ping_every = 5s, .silence = 30s, .idle = 4h});
  session.run([](Session& s) -> asio::awaitable<void> {
    co_await s.clock.sleep(10min);
    CHECK_FALSE(s.client.failure().has_value());
    CHECK(co_await s.client.write(Channel::in, "still here"));
    CHECK((co_await s.server.read(Channel::in)).value() == "still here");
    co_await s.clock.sleep(3h + 59min);
    CHECK_FALSE(s.client.failure().has_value());
    co_await s.clock.sleep(2min);
    REQUIRE(s.client.failure().has_value());
    CHECK(s.client.failure()->code() == Errc::timeout);
  });
}

TEST_CASE("a peer that gives no sign of life is dead after the limit") {
  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  auto pipes = test::make_pipes(simulator.executor());
  CommandConnection client(simulator.executor(), clock, std::move(pipes.near),
                           make_codec("websocket", CommandRole::client));
  const auto start = clock.now();
  simulator.run(client.run());
  CHECK(clock.now() - start == 30s);
  REQUIRE(client.failure());
  CHECK(client.failure()->code() == Errc::timeout);
}

TEST_CASE("a peer that is stuck in our data is not taken for dead, and one that has read it may be") {
  for (const bool reads : {false, true}) {
    CAPTURE(reads);
    Simulator simulator{1};
    VirtualClock& clock = simulator.clock();
    auto pipes = test::make_pipes(simulator.executor());
    CommandConnection client(simulator.executor(), clock, std::move(pipes.near),
                             make_codec("websocket", CommandRole::client));
    simulator.run(
        [](Simulator& loop, VirtualClock& time, CommandConnection& c, net::ByteStream& raw,
           bool answer) -> asio::awaitable<void> {
          async::TaskGroup group(loop.executor());
          group.spawn(c.run());
          CHECK(co_await c.write(Channel::in, "a program that sleeps does not read this"));
          co_await time.sleep(6s);
          // A pong, to the one ping that was sent by now.
          if (answer) CHECK(co_await raw.write(std::string_view("\x8a\x00", 2)));
          co_await time.sleep(1h);
          CHECK(c.failure().has_value() == answer);
          c.close();
          co_await group.join();
        }(simulator, clock, client, *pipes.far, reads),
        2h);
  }
}

TEST_CASE("streams that the client does not open end the session in time") {
  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  auto pipes = test::make_pipes(simulator.executor());
  CommandConnection server(simulator.executor(), clock, std::move(pipes.far), make_codec("spdy", CommandRole::server),
                           {.ping_every = {}, .silence = {}});
  simulator.run([](Simulator& loop, VirtualClock& time, CommandConnection& s) -> asio::awaitable<void> {
    async::TaskGroup group(loop.executor());
    group.spawn(s.run());
    const auto ready = co_await s.ready(time.deadline_in(30s));
    CHECK(ready.error().code() == Errc::timeout);
    s.close();
    co_await group.join();
  }(simulator, clock, server));
}

TEST_CASE("a peer that vanishes ends readers and writers") {
  Session session("spdy", {}, 16 * 1024);
  session.run([](Session& s) -> asio::awaitable<void> {
    s.pipes.to_far->close();
    s.pipes.to_near->close();
    const auto got = co_await s.server.read(Channel::in);
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().code() == Errc::closed);
    const std::string block(1 << 20, 'x');
    CHECK((co_await s.server.write(Channel::out, block)).error().code() == Errc::closed);
  });
}

TEST_CASE("a peer that breaks the protocol is told so and ends the session") {
  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  auto pipes = test::make_pipes(simulator.executor());
  CommandConnection server(simulator.executor(), clock, std::move(pipes.far), make_codec("spdy", CommandRole::server));
  simulator.run([](Simulator& loop, CommandConnection& s, net::ByteStream& raw) -> asio::awaitable<void> {
    async::TaskGroup group(loop.executor());
    group.spawn(s.run());
    CHECK(co_await raw.write(std::string_view("\x80\x03\x00\x01\x00\xff\xff\xff", 8)));
    co_await s.over();
    REQUIRE(s.failure());
    CHECK(s.failure()->code() == Errc::too_large);
    co_await group.join();
  }(simulator, server, *pipes.near));
  CHECK(pipes.to_near->bytes.find(std::string("\x80\x03\x00\x07", 4)) != std::string::npos);
}

TEST_CASE("channels that are discarded hold nobody up") {
  Session session("websocket", {}, 16 * 1024);
  session.run([](Session& s) -> asio::awaitable<void> {
    s.client.discard(Channel::err);
    const std::string block(1 << 20, 'x');
    CHECK(co_await s.server.write(Channel::err, block));
    CHECK(co_await s.server.write(Channel::out, "after it"));
    CHECK((co_await s.client.read(Channel::out)).value() == "after it");
  });
}

TEST_CASE("a session that is cancelled leaves nothing behind") {
  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  auto pipes = test::make_pipes(simulator.executor());
  CommandConnection client(simulator.executor(), clock, std::move(pipes.near), make_codec("spdy", CommandRole::client));
  simulator.run([](Simulator& loop, VirtualClock& time, CommandConnection& c) -> asio::awaitable<void> {
    async::TaskGroup group(loop.executor());
    group.spawn(c.run());
    co_await time.sleep(1s);
    co_await group.stop();
  }(simulator, clock, client));
  CHECK(pipes.to_far->closed);
  REQUIRE(client.failure());
  CHECK(client.failure()->code() == Errc::stopped);
}
