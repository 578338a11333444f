#include "kubelet/port_forward_server.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "spdy_peer.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
namespace wire = kube::wire;
namespace asio = boost::asio;
using kube::async::TaskGroup;
using Peer = liqo::test::SpdyPeer;

/// A caller, our server between, and a provider.
struct World {
  using Script = std::function<asio::awaitable<void>(World&)>;

  kube::testing::Simulator simulator{1};
  kube::testing::VirtualClock& clock = simulator.clock();
  kube::test::PipePair calling = kube::test::make_pipes(simulator.executor());
  kube::test::PipePair providing = kube::test::make_pipes(simulator.executor());
  Peer caller{simulator.executor(), wire::SpdyRole::client};
  Peer provider{simulator.executor(), wire::SpdyRole::server};
  std::optional<kube::Failure> refusal;  // of the provider
  kube::Duration dialing{};
  int connects = 0;
  bool served = false;
  PortForwardLimits limits;

  /// Runs the caller's script; everything must end by itself behind it.
  void run(Script script) {
    simulator.run(
        [](World& w, Script steps) -> asio::awaitable<void> {
          TaskGroup group(w.simulator.executor());
          group.spawn(w.caller.run(*w.calling.near));
          group.spawn(w.provider.run(*w.providing.far));
          group.spawn(w.serve());
          co_await steps(w);
          w.hang_up();
          co_await group.join();
        }(*this, std::move(script)),
        24h);
    CHECK(served);
    CHECK(providing.to_far->closed);
    CHECK(calling.to_near->closed);
  }

  asio::awaitable<void> serve() {
    ConnectPortForward connect = [this] { return reach(); };
    co_await serve_port_forward(std::move(calling.far), {.name = "rome/web", .connect = std::move(connect)}, clock,
                                limits);
    served = true;
    if (providing.near) providing.near->close();
  }
  asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>> reach() {
    ++connects;
    co_await clock.sleep(dialing);
    if (refusal) co_return std::unexpected(*refusal);
    co_return std::move(providing.near);
  }
  void hang_up() { calling.near->close(); }

  struct Pair {
    std::uint32_t error = 0, data = 0;
  };
  /// As Go's clients do.
  asio::awaitable<Pair> forward(std::string port) {
    const std::string request = std::to_string(next_request++);
    Pair pair;
    pair.error = co_await open("error", port, request);
    caller.session.finish(pair.error);
    pair.data = co_await open("data", port, request);
    co_return pair;
  }
  asio::awaitable<std::uint32_t> open(std::string type, std::string port, std::string request) {
    const auto id = caller.session.open({{"streamtype", type}, {"port", port}, {"requestid", request}}).value();
    caller.flush();
    Peer::Heard& stream = caller.heard[id];
    co_await caller.until([&stream] { return stream.replied || stream.reset; });
    co_return id;
  }
  asio::awaitable<std::string> end_of(std::uint32_t stream) {
    Peer::Heard& heard = caller.heard[stream];
    co_await caller.until([&heard] { return heard.finished || heard.reset; });
    co_return heard.bytes;
  }
  int next_request = 0;
};

}  // namespace

TEST_CASE("many connections go through one to the provider, with their ends") {
  World world;
  world.provider.echoes = true;
  world.run([](World& w) -> asio::awaitable<void> {
    std::vector<World::Pair> pairs;
    for (int i = 0; i < 20; ++i) pairs.push_back(co_await w.forward("80"));
    for (const World::Pair pair : pairs) {
      w.caller.session.write(pair.data, "number " + std::to_string(pair.data));
      w.caller.session.finish(pair.data);
    }
    w.caller.flush();
    for (const World::Pair pair : pairs) {
      CHECK(co_await w.end_of(pair.data) == "number " + std::to_string(pair.data));
      CHECK(co_await w.end_of(pair.error) == "");
    }
    CHECK(w.connects == 1);
    CHECK(w.provider.session.open_streams() == 0);
    CHECK(w.caller.session.open_streams() == 0);
  });
}

TEST_CASE("what a provider refuses is told in its words, and the connection is good for another try") {
  World world;
  world.refusal = kube::Failure(kube::Errc::connect, "no way to milan");
  world.run([](World& w) -> asio::awaitable<void> {
    const auto first = co_await w.forward("80");
    CHECK(co_await w.end_of(first.error) == "error forwarding port 80 to pod rome/web: no way to milan");
    CHECK(w.caller.heard[first.data].replied);
    w.refusal.reset();
    const auto second = co_await w.forward("80");
    CHECK(w.caller.heard[second.data].replied);
    CHECK(w.connects == 2);
    CHECK(w.provider.streams == 2);
  });
}

TEST_CASE("a provider that does not let itself be reached is told of before the caller gives up") {
  World world;
  world.dialing = 1h;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto start = w.clock.now();
    const auto pair = co_await w.forward("80");
    CHECK((co_await w.end_of(pair.error)).ends_with("the provider did not open the connection in time"));
    CHECK(w.clock.now() - start < 30s);
  });
}

TEST_CASE("a pair that stays incomplete is told after 30 s; the provider is not troubled") {
  World world;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto start = w.clock.now();
    const auto error = co_await w.open("error", "80", "0");
    CHECK(co_await w.end_of(error) == "(request=0) timed out waiting for streams");
    CHECK(w.clock.now() - start == 30s);
    CHECK(w.connects == 0);
  });
}

TEST_CASE("a caller that vanishes ends the provider's side at once") {
  for (const bool writes : {false, true}) {
    CAPTURE(writes);
    World world;
    world.run([writes](World& w) -> asio::awaitable<void> {
      const auto pair = co_await w.forward("80");
      if (writes) {
        // Also in the middle of an endless download.
        w.provider.session.write(3, std::string(1 << 20, 'x'));
        w.provider.flush();
        co_await w.caller.until([&w, pair] { return !w.caller.heard[pair.data].bytes.empty(); });
      }
      const auto start = w.clock.now();
      w.hang_up();
      co_await w.provider.until([] { return false; });
      CHECK(w.provider.ended);
      CHECK(w.clock.now() - start <= 1s);
    });
    CHECK(world.provider.said_goodbye);
  }
}

TEST_CASE("a provider that vanishes is told on every forward, and ends the caller's connection") {
  World world;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto first = co_await w.forward("80");
    const auto second = co_await w.forward("81");
    w.providing.far->close();
    const auto start = w.clock.now();
    for (const World::Pair pair : {first, second}) {
      CHECK((co_await w.end_of(pair.error)).find("lost connection to the provider") != std::string::npos);
    }
    co_await w.caller.until([&w] { return w.caller.said_goodbye; });
    CHECK(w.caller.said_goodbye);
    CHECK(w.clock.now() - start < 1s);
  });
}

TEST_CASE("a side that says goodbye, and keeps its connection open, ends the other at once") {
  for (const bool is_caller : {true, false}) {
    CAPTURE(is_caller);
    World world;
    world.run([is_caller](World& w) -> asio::awaitable<void> {
      const auto pair = co_await w.forward("80");
      Peer& leaving = is_caller ? w.caller : w.provider;
      Peer& other = is_caller ? w.provider : w.caller;
      const auto start = w.clock.now();
      leaving.session.close();
      leaving.flush();
      co_await other.until([&other] { return other.said_goodbye; });
      CHECK(other.said_goodbye);
      CHECK(w.caller.heard[pair.data].reset == !is_caller);
      CHECK(w.clock.now() - start < 1s);
    });
  }
}

TEST_CASE("a provider that sends what is no SPDY ends this connection only, with a word") {
  World world;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto pair = co_await w.forward("80");
    CHECK(co_await w.providing.far->write(std::string_view("\x80\x03\x00\x01\x00\xff\xff\xff", 8)));
    CHECK((co_await w.end_of(pair.error)).find("the provider broke the protocol") != std::string::npos);
    co_await w.caller.until([&w] { return w.caller.said_goodbye; });
    CHECK(w.caller.said_goodbye);
  });
}

TEST_CASE("garbage behind an upgrade ends the connection at once, and no provider is asked") {
  World world;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto start = w.clock.now();
    CHECK(co_await w.calling.near->write("GET /pods HTTP/1.1\r\nhost: h\r\n\r\n" + std::string(10'000, '\xff')));
    co_await w.caller.until([&w] { return w.caller.said_goodbye; });
    CHECK(w.caller.said_goodbye);
    CHECK(w.clock.now() - start < 5s);
    CHECK(w.connects == 0);
    w.providing.far->close();
  });
}

TEST_CASE("a provider that never replies is told of, and one that gives no sign of life is left") {
  for (const bool reads : {true, false}) {
    CAPTURE(reads);
    World world;
    world.provider.answers = false;
    if (!reads) world.provider.goes_on.reset();
    world.run([reads](World& w) -> asio::awaitable<void> {
      const auto pair = co_await w.forward("80");
      CHECK((co_await w.end_of(pair.error)).ends_with("the provider did not open the connection in time"));
      co_await w.clock.sleep(1min);
      CHECK(w.caller.said_goodbye == !reads);
      w.provider.goes_on.set();
    });
  }
}

TEST_CASE("a reader that stands still stops the writer at bounded memory, and nothing is lost") {
  static constexpr std::size_t much = 4 << 20;
  for (const bool down : {true, false}) {
    CAPTURE(down);
    World world;
    world.run([down](World& w) -> asio::awaitable<void> {
      const auto pair = co_await w.forward("80");
      Peer& writer = down ? w.provider : w.caller;
      Peer& reader = down ? w.caller : w.provider;
      const std::shared_ptr<kube::test::Pipe> to_us = down ? w.providing.to_near : w.calling.to_far;
      const std::shared_ptr<kube::test::Pipe> from_us = down ? w.calling.to_near : w.providing.to_far;
      const std::uint32_t sent_on = down ? 3 : pair.data;
      const std::uint32_t heard_on = down ? pair.data : 3;
      reader.goes_on.reset();
      std::string all(much, 'x');
      writer.session.write(sent_on, all);
      writer.session.finish(sent_on);
      writer.flush();
      // The clock moves only when nothing else can: by now everything is as full as it gets. Longer than pings wait.
      co_await w.clock.sleep(10min);
      const std::size_t held = (to_us->total - to_us->bytes.size()) - from_us->total;
      CHECK(held <= PortForwardLimits().max_buffer);
      CHECK(from_us->total < much / 4);
      reader.goes_on.set();
      co_await reader.until([&reader, heard_on] { return reader.heard[heard_on].finished; });
      CHECK(reader.heard[heard_on].bytes.size() == much);
    });
  }
}

TEST_CASE("a caller that asks and does not read is not answered for ever") {
  World world;
  world.caller.goes_on.reset();
  world.run([](World& w) -> asio::awaitable<void> {
    for (int i = 0; i < 20000; ++i) static_cast<void>(w.caller.session.open({{"streamtype", "foo"}, {"port", "80"}}));
    w.caller.flush();
    co_await w.clock.sleep(1min);
    CHECK(w.caller.session.pending_output() > 0);
    CHECK(w.connects == 0);
    w.caller.goes_on.set();
  });
}

TEST_CASE("a quiet connection lives for hours, and ends after four") {
  World world;
  world.run([](World& w) -> asio::awaitable<void> {
    const auto pair = co_await w.forward("80");
    co_await w.clock.sleep(3h + 50min);
    CHECK_FALSE(w.served);
    w.caller.session.write(pair.data, "still here");
    w.caller.flush();
    co_await w.provider.until([&w] { return w.provider.heard[3].bytes == "still here"; });
    const auto start = w.clock.now();
    co_await w.caller.until([&w] { return w.caller.said_goodbye; });
    CHECK(w.clock.now() - start >= 4h);
    CHECK(w.clock.now() - start < 4h + 5min);
  });
}

TEST_CASE("a connection that is cancelled closes both sides, also while it dials") {
  for (const bool dials : {false, true}) {
    CAPTURE(dials);
    World world;
    if (dials) world.dialing = 10s;
    world.simulator.run([](World& w, bool in_between) -> asio::awaitable<void> {
      TaskGroup group(w.simulator.executor());
      TaskGroup serving(w.simulator.executor());
      group.spawn(w.caller.run(*w.calling.near));
      group.spawn(w.provider.run(*w.providing.far));
      serving.spawn(w.serve());
      TaskGroup opening(w.simulator.executor());
      opening.spawn([](World& o) -> asio::awaitable<void> { static_cast<void>(co_await o.forward("80")); }(w));
      co_await w.clock.sleep(1s);
      CHECK(w.connects == 1);
      co_await serving.stop();
      CHECK(w.calling.to_near->closed);
      if (in_between) w.providing.near->close();
      CHECK(w.providing.to_far->closed);
      co_await opening.stop();
      co_await group.join();
    }(world, dials));
  }
}

TEST_CASE("ten thousand forwards that come and go leave nothing") {
  World world;
  world.provider.echoes = true;
  world.run([](World& w) -> asio::awaitable<void> {
    for (int i = 0; i < 10000; ++i) {
      const auto pair = co_await w.forward("80");
      w.caller.session.write(pair.data, "x");
      if (i % 3 == 0) {
        w.caller.session.reset(pair.data, wire::SpdyReset::cancel);
        w.provider.session.finish(static_cast<std::uint32_t>(4 * i + 1));
        w.provider.flush();
      } else {
        w.caller.session.finish(pair.data);
      }
      w.caller.flush();
      CHECK(co_await w.end_of(pair.error) == "");
    }
    CHECK(w.connects == 1);
    CHECK(w.provider.session.open_streams() == 0);
    CHECK(w.caller.session.open_streams() == 0);
  });
}

TEST_CASE("only SPDY with portforward.k8s.io is taken") {
  using Headers = std::vector<std::pair<std::string, std::string>>;
  struct Case {
    const char* title;
    Headers headers;
    int status;
  };
  const Case cases[] = {
      {"no upgrade", {}, 400},
      {"only Upgrade", {{"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "portforward.k8s.io"}}, 400},
      {"a WebSocket",
       {{"connection", "Upgrade"},
        {"upgrade", "websocket"},
        {"sec-websocket-version", "13"},
        {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
        {"sec-websocket-protocol", "SPDY/3.1+portforward.k8s.io"}},
       400},
      {"no protocol", {{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}}, 400},
      {"another protocol",
       {{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "v4.channel.k8s.io"}},
       403},
      {"as API servers ask",
       {{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "portforward.k8s.io"}},
       101},
      {"among others",
       {{"connection", "upgrade"}, {"upgrade", "spdy/3.1"}, {"x-stream-protocol-version", "v9, portforward.k8s.io"}},
       101},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::net::ServerRequest request;
    request.method = "POST";
    request.headers = c.headers;
    const auto upgrade = read_port_forward_upgrade(request);
    REQUIRE((upgrade.has_value() ? 101 : upgrade.error().refusal.status) == c.status);
    if (c.status == 403) {
      CHECK(upgrade.error().headers ==
            kube::net::ServerResponse::Headers{{"x-accepted-stream-protocol-versions", "portforward.k8s.io"}});
    }
    if (upgrade) {
      CHECK(*upgrade == kube::net::ServerResponse::Headers{{"upgrade", "SPDY/3.1"},
                                                           {"x-stream-protocol-version", "portforward.k8s.io"}});
    }
  }
}
