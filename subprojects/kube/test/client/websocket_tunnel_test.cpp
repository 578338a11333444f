#include "kube/client/websocket_tunnel.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/byte_pipe.hpp"

namespace {

using namespace kube;
using kube::testing::Simulator;

std::uint32_t no_mask() { return 0; }

struct World {
  Simulator simulator{1};
  test::PipePair pipes = test::make_pipes(simulator.executor());
  WebSocketTunnel tunnel{std::move(pipes.near), no_mask};
  wire::WebSocketCodec server{wire::WebSocketRole::server, no_mask};

  /// Sends what the server has to say, in pieces of that size.
  asio::awaitable<void> say(std::size_t piece) {
    std::string all;
    while (auto frame = server.next_output()) all += *frame;
    for (std::size_t i = 0; i < all.size(); i += piece) {
      CHECK(co_await pipes.far->write(std::string_view(all).substr(i, piece)));
    }
  }
  /// Reads until the end, or a failure.
  asio::awaitable<std::string> read_all() {
    std::string all;
    std::string buffer(7, '\0');
    while (true) {
      auto got = co_await tunnel.read_some(buffer);
      if (!got) co_return all + "|" + got.error().text();
      if (*got == 0) co_return all;
      all += buffer.substr(0, *got);
    }
  }
};

}  // namespace

TEST_CASE("bytes pass through a tunnel both ways, however messages and reads are cut") {
  for (const std::size_t piece : {1U, 2U, 3U, 1000U}) {
    CAPTURE(piece);
    World world;
    world.simulator.run([](World& w, std::size_t size) -> asio::awaitable<void> {
      CHECK(co_await w.tunnel.write("to the server"));
      std::string buffer(1000, '\0');
      const auto got = co_await w.pipes.far->read_some(buffer);
      CHECK(w.server.feed(std::string_view(buffer).substr(0, got.value())));
      const auto message = w.server.next();
      REQUIRE(message);
      CHECK(message->bytes == "to the server");
      CHECK_FALSE(message->text);
      w.server.send("from ");
      w.server.send("");
      w.server.ping("are you there");
      w.server.send("the server");
      w.server.close(wire::WebSocketClose::normal);
      co_await w.say(size);
      CHECK(co_await w.read_all() == "from the server");
      CHECK_FALSE(co_await w.tunnel.write("late"));
    }(world, piece));
  }
}

TEST_CASE("what is written at once goes out in messages that fit into a record of TLS each") {
  World world;
  world.simulator.run([](World& w) -> asio::awaitable<void> {
    std::string sent(50'000, 'x');
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i % 251);
    CHECK(co_await w.tunnel.write(sent));
    std::string buffer(100'000, '\0');
    const std::size_t got = (co_await w.pipes.far->read_some(buffer)).value();
    CHECK(w.server.feed(std::string_view(buffer).substr(0, got)));
    std::string heard;
    while (const auto message = w.server.next()) {
      CHECK(message->first);
      CHECK(message->last);
      CHECK(message->bytes.size() + 8 <= 16 * 1024);
      heard += message->bytes;
    }
    CHECK(heard == sent);
  }(world));
}

TEST_CASE("pings of the server are answered with what is written next") {
  World world;
  world.simulator.run([](World& w) -> asio::awaitable<void> {
    w.server.ping("are you there");
    w.server.send("x");
    co_await w.say(1000);
    std::string buffer(1000, '\0');
    CHECK((co_await w.tunnel.read_some(buffer)).value() == 1);
    CHECK(co_await w.tunnel.write("y"));
    std::string all;
    while (all.size() < 20) {
      const auto got = co_await w.pipes.far->read_some(buffer);
      all += buffer.substr(0, got.value());
    }
    CHECK(w.server.feed(all));
    CHECK(w.server.next()->kind == wire::WebSocketEvent::Kind::pong);
    CHECK(w.server.next()->bytes == "y");
  }(world));
}

TEST_CASE("what ends a tunnel in another way than by its normal close is a failure") {
  struct Case {
    const char* title;
    void (*say)(wire::WebSocketCodec&);
    std::string raw;
    const char* heard;
  };
  const Case cases[] = {
      {"text", [](wire::WebSocketCodec& server) { server.send("words", true); }, "",
       "|a text message in a tunnel of bytes"},
      {"a close with a reason",
       [](wire::WebSocketCodec& server) { server.close(wire::WebSocketClose::internal_error, "no kubelet"); }, "",
       "|the peer closed the tunnel with code 1011: no kubelet"},
      {"a close behind the last bytes",
       [](wire::WebSocketCodec& server) {
         server.send("the last");
         server.close(wire::WebSocketClose::internal_error);
       },
       "", "the last|the peer closed the tunnel with code 1011"},
      {"bytes that are no frame", [](wire::WebSocketCodec&) {}, "HTTP/1.1 400 Bad Request", "|"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.simulator.run([](World& w, const Case& given) -> asio::awaitable<void> {
      given.say(w.server);
      co_await w.say(1000);
      if (!given.raw.empty()) CHECK(co_await w.pipes.far->write(given.raw));
      CHECK((co_await w.read_all()).starts_with(given.heard));
    }(world, c));
  }
}
