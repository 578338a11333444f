#include "kubelet/exec_server.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
namespace wire = kube::wire;
namespace asio = boost::asio;
using Channel = wire::CommandChannel;
using kube::CommandConnection;
using kube::RemoteCommand;
using kube::async::TaskGroup;
using wire::CommandRole;
using wire::CommandStreams;
using wire::CommandVersion;

constexpr CommandStreams plain{.in = true, .out = true, .err = true};
constexpr CommandStreams terminal{.in = true, .out = true, .tty = true};

std::uint32_t no_mask() { return 0; }

/// Makes a codec from a name like "spdy v4.channel.k8s.io" or "websocket v5.channel.k8s.io".
std::unique_ptr<wire::CommandCodec> make_codec(std::string_view name, CommandRole role, CommandStreams streams) {
  const std::string_view protocol = name.substr(name.find(' ') + 1);
  if (name.starts_with("spdy")) return wire::make_spdy_command(role, *wire::command_version(protocol), streams);
  return wire::make_websocket_command(role, *wire::websocket_command_protocol(protocol), streams, no_mask);
}

const std::string exit_3 =
    wire::encode_result({wire::CommandResult::Kind::exited, 3, "command terminated with exit code 3"});

/// A caller, our server between, and a provider: three loops joined by pipes.
struct World {
  using Script = std::function<asio::awaitable<void>(World&)>;

  kube::testing::Simulator simulator{1};
  kube::testing::VirtualClock& clock = simulator.clock();
  CommandStreams streams;
  kube::test::PipePair calling;
  kube::test::PipePair providing;
  CommandConnection caller;
  CommandConnection provider;
  std::unique_ptr<RemoteCommand> remote;
  std::optional<kube::Failure> refusal;  // of the provider
  std::unique_ptr<wire::CommandCodec> local_codec;
  bool served = false;
  kube::TimePoint served_at{};

  World(std::string_view local, std::string_view provider_protocol, CommandStreams wanted, std::size_t pipe = 64 * 1024)
      : streams(wanted),
        calling(kube::test::make_pipes(simulator.executor(), pipe)),
        providing(kube::test::make_pipes(simulator.executor(), pipe)),
        caller(simulator.executor(), clock, std::move(calling.near), make_codec(local, CommandRole::client, wanted)),
        provider(simulator.executor(), clock, std::move(providing.far),
                 make_codec(provider_protocol, CommandRole::server, wanted), {.silence = {}}),
        remote(std::make_unique<RemoteCommand>(
            std::make_unique<CommandConnection>(simulator.executor(), clock, std::move(providing.near),
                                                make_codec(provider_protocol, CommandRole::client, wanted)))),
        local_codec(make_codec(local, CommandRole::server, wanted)) {}

  /// Runs the scripts of the caller and the provider; everything must end by itself.
  void run(Script call, Script provide) {
    simulator.run(
        [](World& w, Script user, Script command) -> asio::awaitable<void> {
          TaskGroup group(w.simulator.executor());
          group.spawn(w.caller.run());
          group.spawn(w.provider.run());
          group.spawn(w.serve());
          group.spawn([](World& o, Script script) -> asio::awaitable<void> {
            if (!co_await o.provider.ready(o.clock.deadline_in(1h))) co_return;
            co_await script(o);
          }(w, std::move(command)));
          co_await user(w);
          co_await group.join();
        }(*this, std::move(call), std::move(provide)),
        24h);
    CHECK(served);
  }

  asio::awaitable<void> serve() {
    ConnectCommand connect = [this]() -> asio::awaitable<kube::Result<std::unique_ptr<RemoteCommand>>> {
      if (refusal) {
        provider.close();
        co_return std::unexpected(*refusal);
      }
      co_return std::move(remote);
    };
    co_await serve_exec({.stream = std::move(calling.far), .codec = std::move(local_codec), .streams = streams},
                        connect, clock);
    served = true;
    served_at = clock.now();
    if (remote) remote->close();
    remote.reset();
  }

  asio::awaitable<void> finish(std::string status) {
    static_cast<void>(co_await provider.write(Channel::error, status));
    for (const auto channel : {Channel::out, Channel::err, Channel::error}) provider.finish(channel);
    provider.close();
  }
};

asio::awaitable<std::string> read_all(CommandConnection& connection, Channel channel) {
  std::string all;
  for (;;) {
    auto piece = co_await connection.read(channel);
    if (!piece) co_return all + "|" + piece.error().text();
    if (piece->empty()) co_return all;
    all += *piece;
  }
}

asio::awaitable<void> nothing(World&) { co_return; }

}  // namespace

TEST_CASE("stdin, its end, output and the exit code pass, in every pair of protocols") {
  const char* const locals[] = {"spdy v5.channel.k8s.io", "spdy v4.channel.k8s.io", "spdy channel.k8s.io",
                                "websocket v5.channel.k8s.io"};
  const char* const remotes[] = {"websocket v5.channel.k8s.io", "spdy v4.channel.k8s.io"};
  for (const char* local : locals) {
    for (const char* remote : remotes) {
      CAPTURE(std::string(local));
      CAPTURE(std::string(remote));
      World world(local, remote, plain);
      world.run(
          [](World& w) -> asio::awaitable<void> {
            CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
            CHECK(co_await w.caller.write(Channel::in, "hello"));
            w.caller.finish(Channel::in);
            CHECK(co_await read_all(w.caller, Channel::out) == "HELLO");
            CHECK(co_await read_all(w.caller, Channel::err) == "oops");
            const std::string status = co_await read_all(w.caller, Channel::error);
            // A Status goes through byte by byte; peers older than v4 get its text.
            CHECK(status == (has_status(w.caller.version()) ? exit_3 : "command terminated with exit code 3"));
            w.caller.close();
          },
          [](World& w) -> asio::awaitable<void> {
            CHECK(co_await read_all(w.provider, Channel::in) == "hello");
            CHECK(co_await w.provider.write(Channel::out, "HELLO"));
            CHECK(co_await w.provider.write(Channel::err, "oops"));
            co_await w.finish(exit_3);
          });
    }
  }
}

TEST_CASE("the legacy protocols of WebSocket are served") {
  for (const char* local : {"websocket v4.channel.k8s.io", "websocket v4.base64.channel.k8s.io",
                            "websocket base64.channel.k8s.io", "websocket "}) {
    CAPTURE(std::string(local));
    World world(local, "spdy v4.channel.k8s.io", plain);
    world.run(
        [](World& w) -> asio::awaitable<void> {
          CHECK(co_await w.caller.write(Channel::in, "hello"));
          CHECK((co_await w.caller.read(Channel::out)).value() == "HELLO");
          CHECK(co_await read_all(w.caller, Channel::error) ==
                (has_status(w.caller.version()) ? exit_3 : "command terminated with exit code 3"));
          w.caller.close();
        },
        [](World& w) -> asio::awaitable<void> {
          CHECK((co_await w.provider.read(Channel::in)).value() == "hello");
          CHECK(co_await w.provider.write(Channel::out, "HELLO"));
          co_await w.finish(exit_3);
        });
  }
}

TEST_CASE("ten sizes of a terminal arrive at the provider") {
  for (const char* local : {"spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io"}) {
    World world(local, "websocket v5.channel.k8s.io", terminal);
    world.run(
        [](World& w) -> asio::awaitable<void> {
          CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
          for (std::uint16_t i = 1; i <= 10; ++i) {
            const std::string size = wire::encode_resize({i, 24});
            CHECK(co_await w.caller.write(Channel::resize, size));
          }
          CHECK(co_await read_all(w.caller, Channel::error) == wire::encode_result({}));
          w.caller.close();
        },
        [](World& w) -> asio::awaitable<void> {
          wire::ResizeDecoder decoder;
          std::vector<wire::TerminalSize> sizes;
          while (sizes.size() < 10) {
            auto piece = co_await w.provider.read(Channel::resize);
            REQUIRE((piece && !piece->empty()));
            for (const auto size : decoder.feed(*piece).value()) sizes.push_back(size);
          }
          CHECK(sizes.front().width == 1);
          CHECK(sizes.back().width == 10);
          co_await w.finish(wire::encode_result({}));
        });
  }
}

TEST_CASE("what the provider refuses is told in its words") {
  World world("spdy v4.channel.k8s.io", "spdy v4.channel.k8s.io", plain);
  world.refusal = kube::Failure::from_status({.code = 403, .reason = "Forbidden", .message = "you may not exec here"});
  world.run(
      [](World& w) -> asio::awaitable<void> {
        CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
        const std::string status = co_await read_all(w.caller, Channel::error);
        CHECK(
            status ==
            R"({"metadata":{},"status":"Failure","message":"you may not exec here","reason":"Forbidden","code":403})");
        w.caller.close();
      },
      nothing);
}

TEST_CASE("a provider that vanishes in the middle is a failure, not an exit code of zero") {
  World world("spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io", plain);
  world.run(
      [](World& w) -> asio::awaitable<void> {
        CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
        CHECK(co_await read_all(w.caller, Channel::out) == "half");
        const auto result = wire::decode_result(CommandVersion::v4, co_await read_all(w.caller, Channel::error));
        REQUIRE(result);
        CHECK(result->kind == wire::CommandResult::Kind::failed);
        CHECK(result->message.find("connection") != std::string::npos);
        w.caller.close();
      },
      [](World& w) -> asio::awaitable<void> {
        CHECK(co_await w.provider.write(Channel::out, "half"));
        co_await w.clock.sleep(1s);
        w.providing.to_near->close();
        w.providing.to_far->close();
      });
}

TEST_CASE("a caller that vanishes ends an endless command at once") {
  World world("spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io", plain);
  world.run(
      [](World& w) -> asio::awaitable<void> {
        CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
        CHECK((co_await w.caller.read(Channel::out)).has_value());
        w.calling.to_far->close();
        w.calling.to_near->close();
      },
      [](World& w) -> asio::awaitable<void> {
        const auto start = w.clock.now();
        const std::string block(1000, 'x');
        while (co_await w.provider.write(Channel::out, block)) {
        }
        CHECK(w.clock.now() - start < 1s);
      });
}

TEST_CASE("streams that the caller never opens end the session after 30 s") {
  kube::testing::Simulator simulator{1};
  kube::testing::VirtualClock& clock = simulator.clock();
  auto pipes = kube::test::make_pipes(simulator.executor());
  const auto start = clock.now();
  bool connected = false;
  ConnectCommand connect = [&connected]() -> asio::awaitable<kube::Result<std::unique_ptr<RemoteCommand>>> {
    connected = true;
    co_return kube::fail(kube::Errc::stopped, "not now");
  };
  auto codec = make_codec("spdy v4.channel.k8s.io", CommandRole::server, plain);
  simulator.run(
      serve_exec({.stream = std::move(pipes.far), .codec = std::move(codec), .streams = plain}, connect, clock));
  CHECK(clock.now() - start >= 30s);
  CHECK(clock.now() - start < 45s);
  CHECK_FALSE(connected);
  CHECK(pipes.to_far->closed);
}

TEST_CASE("garbage behind an upgrade ends the session at once") {
  for (const char* local : {"spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io"}) {
    CAPTURE(std::string(local));
    kube::testing::Simulator simulator{1};
    kube::testing::VirtualClock& clock = simulator.clock();
    auto pipes = kube::test::make_pipes(simulator.executor());
    const auto start = clock.now();
    ConnectCommand connect = []() -> asio::awaitable<kube::Result<std::unique_ptr<RemoteCommand>>> {
      co_return kube::fail(kube::Errc::stopped, "not now");
    };
    pipes.to_far->bytes = "GET /pods HTTP/1.1\r\nhost: h\r\n\r\n" + std::string(10'000, '\xff');
    simulator.run(serve_exec(
        {.stream = std::move(pipes.far), .codec = make_codec(local, CommandRole::server, plain), .streams = plain},
        connect, clock));
    CHECK(clock.now() - start < 5s);
    CHECK(pipes.to_far->closed);
  }
}

TEST_CASE("a provider that opens no stream, and says something every second, is left after half a minute") {
  World world("spdy v4.channel.k8s.io", "spdy v4.channel.k8s.io", plain);
  world.simulator.run([](World& w) -> asio::awaitable<void> {
    TaskGroup group(w.simulator.executor());
    group.spawn(w.caller.run());
    group.spawn(w.serve());
    group.spawn([](World& o) -> asio::awaitable<void> {
      const std::string ping("\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x02", 12);
      for (std::size_t i = 0; !o.providing.to_near->closed; ++i) {
        o.providing.to_near->bytes += ping[i % ping.size()];
        o.providing.to_near->readable.set();
        co_await o.clock.sleep(1s);
      }
    }(w));
    const auto start = w.clock.now();
    CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
    const auto result = wire::decode_result(CommandVersion::v4, co_await read_all(w.caller, Channel::error));
    REQUIRE(result);
    CHECK(result->message == "asking the provider: the streams of the session were not opened in time");
    CHECK(w.clock.now() - start < 40s);
    w.caller.close();
    co_await group.join();
  }(world));
}

TEST_CASE("a quiet session lives for hours, and ends after four") {
  World world("spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io", plain);
  world.run(
      [](World& w) -> asio::awaitable<void> {
        CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
        co_await w.clock.sleep(3h + 50min);
        CHECK_FALSE(w.served);
        CHECK(co_await w.caller.write(Channel::in, "still here"));
        const auto start = w.clock.now();
        co_await w.caller.over();
        CHECK(w.clock.now() - start >= 4h);
        CHECK(w.clock.now() - start < 4h + 5min);
      },
      [](World& w) -> asio::awaitable<void> {
        CHECK((co_await w.provider.read(Channel::in)).value() == "still here");
      });
}

TEST_CASE("200 MiB for a slow reader pass at bounded memory, and nothing is lost") {
  for (const char* remote : {"websocket v5.channel.k8s.io", "spdy v4.channel.k8s.io"}) {
    CAPTURE(std::string(remote));
    constexpr std::size_t much = 200 << 20;
    World world("spdy v4.channel.k8s.io", remote, plain, 4096);
    std::size_t written = 0;
    std::size_t read = 0;
    std::size_t most = 0;
    world.run(
        [&](World& w) -> asio::awaitable<void> {
          CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
          std::size_t pieces = 0;
          for (;;) {
            // Now and then so slow that only answered pings keep the session alive.
            if (++pieces % 500 == 0) co_await w.clock.sleep(2min);
            most = std::max(most, written - read);
            auto piece = co_await w.caller.read(Channel::out);
            REQUIRE(piece);
            if (piece->empty()) break;
            read += piece->size();
          }
          CHECK(co_await read_all(w.caller, Channel::error) == exit_3);
          w.caller.close();
        },
        [&](World& w) -> asio::awaitable<void> {
          const std::string block(32 * 1024, 'x');
          while (written < much) {
            // Before: it may be read before the writer goes on.
            written += block.size();
            REQUIRE(co_await w.provider.write(Channel::out, block));
          }
          co_await w.finish(exit_3);
        });
    CHECK(read == written);
    CHECK(written >= much);
    // The server's: 40 KiB that were read, a frame of 32 KiB on its way, 16 KiB being read. The same at each end, a
    // block there, and the pipes.
    CHECK(most < 3 * (40 + 32 + 16) * 1024);
  }
}

TEST_CASE("stdin that the command does not take holds nothing up") {
  World world("websocket v5.channel.k8s.io", "websocket v5.channel.k8s.io", {.out = true});
  world.run(
      [](World& w) -> asio::awaitable<void> {
        // stdin was not requested; a caller may send it all the same.
        const std::string much(1 << 20, 'x');
        CHECK(co_await w.caller.write(Channel::in, much));
        CHECK(co_await read_all(w.caller, Channel::out) == "fine");
        w.caller.close();
      },
      [](World& w) -> asio::awaitable<void> {
        co_await w.clock.sleep(1s);
        CHECK(co_await w.provider.write(Channel::out, "fine"));
        co_await w.finish(wire::encode_result({}));
      });
}

TEST_CASE("a result that does not end is refused in a sentence, also while the command says nothing") {
  for (const char* remote : {"websocket v5.channel.k8s.io", "spdy v4.channel.k8s.io"}) {
    CAPTURE(std::string(remote));
    World world("spdy v4.channel.k8s.io", remote, plain);
    std::size_t written = 0;
    world.run(
        [](World& w) -> asio::awaitable<void> {
          const auto start = w.clock.now();
          CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
          const auto result = wire::decode_result(CommandVersion::v4, co_await read_all(w.caller, Channel::error));
          REQUIRE(result);
          CHECK(result->kind == wire::CommandResult::Kind::failed);
          CHECK(result->message == "asking the provider: the result of the command is larger than 64 KiB");
          CHECK(w.clock.now() - start < 5s);
          w.caller.close();
        },
        [&written](World& w) -> asio::awaitable<void> {
          const std::string block(16 * 1024, '{');
          while (co_await w.provider.write(Channel::error, block)) written += block.size();
        });
    CHECK(written < 100U << 20);
  }
}

TEST_CASE("a result that is none is told as the provider's mistake, in a sentence") {
  for (const char* status : {"", "x", "{", R"({"status":"Succ)", R"({"status":"Success"}})",
                             R"({"status":"Failure","reason":"NonZeroExitCode"})"}) {
    CAPTURE(std::string(status));
    World world("spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io", plain);
    world.run(
        [](World& w) -> asio::awaitable<void> {
          CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
          const auto result = wire::decode_result(CommandVersion::v4, co_await read_all(w.caller, Channel::error));
          REQUIRE(result);
          CHECK(result->kind == wire::CommandResult::Kind::failed);
          CHECK(result->message.starts_with("asking the provider: "));
          w.caller.close();
        },
        [status](World& w) -> asio::awaitable<void> { co_await w.finish(status); });
  }
}

TEST_CASE("what a provider says on the wrong channels holds nothing up") {
  for (const char* remote : {"websocket v5.channel.k8s.io", "spdy v4.channel.k8s.io"}) {
    CAPTURE(std::string(remote));
    World world("spdy v4.channel.k8s.io", remote, plain);
    world.run(
        [](World& w) -> asio::awaitable<void> {
          CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
          CHECK(co_await read_all(w.caller, Channel::out) == "fine");
          CHECK(co_await read_all(w.caller, Channel::error) == exit_3);
          w.caller.close();
        },
        [](World& w) -> asio::awaitable<void> {
          const std::string much(1 << 20, 'x');
          CHECK(co_await w.provider.write(Channel::in, much));
          CHECK(co_await w.provider.write(Channel::out, "fine"));
          co_await w.finish(exit_3);
        });
  }
}

TEST_CASE("a session that is cancelled closes both sides") {
  World world("spdy v4.channel.k8s.io", "websocket v5.channel.k8s.io", plain);
  world.simulator.run([](World& w) -> asio::awaitable<void> {
    TaskGroup group(w.simulator.executor());
    TaskGroup serving(w.simulator.executor());
    group.spawn(w.caller.run());
    group.spawn(w.provider.run());
    serving.spawn(w.serve());
    CHECK(co_await w.caller.ready(w.clock.deadline_in(30s)));
    co_await w.clock.sleep(1s);
    co_await serving.stop();
    CHECK(w.calling.to_near->closed);
    CHECK(w.providing.to_far->closed);
    co_await group.join();
  }(world));
}

TEST_CASE("the headers of an upgrade choose how to speak") {
  using Headers = std::vector<std::pair<std::string, std::string>>;
  const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
  const Headers websocket = {{"connection", "keep-alive, Upgrade"},
                             {"upgrade", "websocket"},
                             {"sec-websocket-version", "13"},
                             {"sec-websocket-key", key}};
  const Headers spdy = {{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}};
  const auto with = [](Headers headers, std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return headers;
  };
  struct Case {
    const char* title;
    const char* method;
    Headers headers;
    int status;
    std::string chosen;
  };
  const Case cases[] = {
      {"no headers", "POST", {}, 400, ""},
      {"only Connection", "POST", {{"connection", "Upgrade"}}, 400, ""},
      {"only Upgrade", "POST", {{"upgrade", "SPDY/3.1"}}, 400, ""},
      {"another protocol", "POST", {{"connection", "Upgrade"}, {"upgrade", "h2c"}}, 400, ""},
      {"SPDY without protocols", "POST", spdy, 400, ""},
      {"SPDY with nothing in the header", "POST", with(spdy, "x-stream-protocol-version", ",, "), 400, ""},
      {"SPDY with unknown protocols", "POST", with(spdy, "x-stream-protocol-version", "v9.channel.k8s.io"), 403, ""},
      {"SPDY with an old one", "POST", with(spdy, "x-stream-protocol-version", "v9.channel.k8s.io, v2.channel.k8s.io"),
       101, "v2.channel.k8s.io"},
      {"SPDY with the lines of an API server", "POST",
       with(with(spdy, "x-stream-protocol-version", "v5.channel.k8s.io"), "x-stream-protocol-version",
            "v4.channel.k8s.io"),
       101, "v5.channel.k8s.io"},
      {"WebSocket v5", "GET", with(websocket, "sec-websocket-protocol", "v5.channel.k8s.io"), 101, "v5.channel.k8s.io"},
      {"WebSocket of old", "GET", with(websocket, "sec-websocket-protocol", "base64.channel.k8s.io"), 101,
       "base64.channel.k8s.io"},
      {"WebSocket without a protocol", "GET", websocket, 101, ""},
      {"WebSocket with unknown protocols", "GET", with(websocket, "sec-websocket-protocol", "chat"), 403, ""},
      {"WebSocket by POST", "POST", websocket, 400, ""},
      {"WebSocket without a key",
       "GET",
       {{"connection", "Upgrade"}, {"upgrade", "websocket"}, {"sec-websocket-version", "13"}},
       400,
       ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::net::ServerRequest request;
    request.method = c.method;
    request.headers = c.headers;
    const auto upgrade = read_exec_upgrade(request);
    CHECK((upgrade ? 101 : upgrade.error().refusal.status) == c.status);
    if (!upgrade) {
      CHECK((upgrade.error().headers.size() > 0) == (c.status == 403));
      continue;
    }
    std::string chosen;
    for (const auto& [name, value] : upgrade->headers) {
      if (name == "x-stream-protocol-version" || name == "sec-websocket-protocol") chosen = value;
      if (name == "sec-websocket-accept") CHECK(value == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
    CHECK(chosen == c.chosen);
    CHECK(upgrade->make_codec(plain) != nullptr);
  }
}
