#include "kube/client/remote_command.hpp"

#include <doctest/doctest.h>

#include <map>

#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "kube/wire/websocket_codec.hpp"
#include "support/byte_pipe.hpp"

namespace {

using namespace kube;
using namespace std::chrono_literals;
using Channel = wire::CommandChannel;
using kube::testing::Simulator;
using kube::testing::VirtualClock;
using wire::CommandRole;
using wire::CommandVersion;

constexpr wire::CommandStreams with_stdin{.in = true, .out = true, .err = true};
constexpr wire::CommandStreams without_stdin{.out = true, .err = true};

std::string_view header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

/// An API server that answers upgrades as a test has set, and speaks exec on the streams that it grants.
class FakeServer final : public net::Upgrader {
 public:
  explicit FakeServer(Simulator& simulator) : simulator_(simulator) {}

  asio::awaitable<Result<net::Upgraded>> upgrade(HttpRequest request, Deadline) override {
    requests.push_back(request);
    net::Upgraded answer;
    const bool spdy = header(request, "upgrade") == "SPDY/3.1";
    const std::string offered = spdy ? "spdy" : std::string(header(request, "sec-websocket-protocol"));
    if (broken) co_return fail(Errc::connect, "no way there");
    const int status = refusals.contains(offered) ? refusals.at(offered) : 101;
    answer.head.status = status;
    if (status != 101) {
      answer.refusal = R"({"kind":"Status","status":"Failure","code":)" + std::to_string(status) +
                       R"(,"message":"no )" + offered + R"("})";
      co_return answer;
    }
    auto pipes = test::make_pipes(simulator_.executor());
    answer.stream = std::move(pipes.near);
    std::unique_ptr<wire::CommandCodec> codec;
    if (spdy) {
      answer.head.headers.emplace_back("x-stream-protocol-version", "v4.channel.k8s.io");
      codec = wire::make_spdy_command(CommandRole::server, CommandVersion::v4, streams);
    } else {
      const std::string chosen = websocket_choice.empty() ? offered.substr(0, offered.find(',')) : websocket_choice;
      answer.head.headers.emplace_back("sec-websocket-protocol", chosen);
      answer.head.headers.emplace_back("sec-websocket-accept",
                                       wire::websocket_accept(header(request, "sec-websocket-key")));
      const auto protocol = wire::websocket_command_protocol(chosen).value();
      codec = wire::make_websocket_command(CommandRole::server, protocol, streams, [] { return 0u; });
    }
    peer = std::make_unique<CommandConnection>(simulator_.executor(), simulator_.clock(), std::move(pipes.far),
                                               std::move(codec));
    co_return answer;
  }

  wire::CommandStreams streams = with_stdin;
  std::map<std::string, int> refusals;  // by what was offered
  std::string websocket_choice;
  bool broken = false;
  std::vector<HttpRequest> requests;
  std::unique_ptr<CommandConnection> peer;

 private:
  Simulator& simulator_;
};

struct World {
  Simulator simulator{1};
  VirtualClock& clock = simulator.clock();
  FakeServer server{simulator};

  Result<std::unique_ptr<RemoteCommand>> connect(wire::CommandStreams streams) {
    server.streams = streams;
    Result<std::unique_ptr<RemoteCommand>> session;
    simulator.run([](World& w, Result<std::unique_ptr<RemoteCommand>>& out) -> asio::awaitable<void> {
      RemoteCommandRequest request{.ns = "milan", .pod = "web", .container = "main", .command = {"cat"}};
      request.streams = w.server.streams;
      out = co_await connect_remote_command(w.server, w.clock, std::move(request));
    }(*this, session));
    return session;
  }

  /// The server's side of `cat`: echoes until the end of stdin, then exits with 7.
  static asio::awaitable<void> cat(CommandConnection& peer) {
    while (true) {
      auto piece = co_await peer.read(Channel::in);
      if (!piece || piece->empty()) break;
      CHECK(co_await peer.write(Channel::out, *piece));
    }
    CHECK(co_await peer.write(Channel::error, wire::encode_result({wire::CommandResult::Kind::exited, 7, "exit 7"})));
    for (const auto channel : {Channel::out, Channel::err, Channel::error}) peer.finish(channel);
    peer.close();
  }
};

}  // namespace

TEST_CASE("the request for exec names what to run and nothing that is not wanted") {
  const RemoteCommandRequest command{.ns = "milan",
                                     .pod = "web",
                                     .container = "main",
                                     .command = {"sh", "-c", "a b&c"},
                                     .streams = {.in = true, .out = true, .tty = true}};
  const HttpRequest exec = to_request(command, "POST");
  CHECK(exec.method == "POST");
  CHECK(exec.target ==
        "/api/v1/namespaces/milan/pods/web/exec?command=sh&command=-c&command=a%20b%26c&container=main&stdin=true&"
        "stdout=true&tty=true");
  CHECK(to_request({.ns = "milan", .pod = "web", .streams = {.out = true}}, "GET").target ==
        "/api/v1/namespaces/milan/pods/web/attach?stdout=true");
}

TEST_CASE("a command runs over each protocol: stdin, its end, output and exit code") {
  struct Case {
    const char* title;
    std::map<std::string, int> refusals;
    CommandVersion version;
  };
  const Case cases[] = {{"WebSocket v5", {}, CommandVersion::v5},
                        // A role with only `create` on pods/exec: GET is forbidden, POST is not.
                        {"SPDY after 403", {{"v5.channel.k8s.io", 403}}, CommandVersion::v4}};
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.server.refusals = c.refusals;
    auto session = world.connect(with_stdin);
    REQUIRE(session);
    CHECK((*session)->connection().version() == c.version);
    world.simulator.run([](World& w, RemoteCommand& command) -> asio::awaitable<void> {
      async::TaskGroup group(w.simulator.executor());
      group.spawn(command.run());
      group.spawn(w.server.peer->run());
      group.spawn(World::cat(*w.server.peer));
      const auto ready = co_await command.ready(w.clock.deadline_in(30s));
      CHECK(ready.has_value());
      CHECK(co_await command.write_stdin("meow"));
      command.close_stdin();
      CHECK((co_await command.read(Channel::out)).value() == "meow");
      CHECK((co_await command.read(Channel::out)).value() == "");
      const auto status = co_await command.result();
      REQUIRE(status);
      CHECK(wire::decode_result(CommandVersion::v4, *status).value().exit_code == 7);
      command.close();
      co_await group.join();
    }(world, **session));
  }
}

TEST_CASE("what is tried next depends on what was refused and on stdin") {
  struct Case {
    const char* title;
    wire::CommandStreams streams;
    std::map<std::string, int> refusals;
    std::string tried;
    int code;  // 0: a session
  };
  const Case cases[] = {
      {"all is well", with_stdin, {}, "GET v5", 0},
      {"no v5", with_stdin, {{"v5.channel.k8s.io", 400}}, "GET v5,POST v5", 0},
      {"neither v5 nor SPDY", with_stdin, {{"v5.channel.k8s.io", 403}, {"spdy", 405}}, "GET v5,POST v5,GET v4", 0},
      {"nothing works with stdin",
       with_stdin,
       {{"v5.channel.k8s.io", 403}, {"spdy", 405}, {"v4.channel.k8s.io", 400}},
       "GET v5,POST v5,GET v4",
       405},
      {"v4 offered with v5 where stdin needs no end", without_stdin, {}, "GET v5 v4", 0},
      {"nothing works without stdin",
       without_stdin,
       {{"v5.channel.k8s.io, v4.channel.k8s.io", 403}, {"spdy", 403}},
       "GET v5 v4,POST v5",
       403},
      {"no such pod", with_stdin, {{"v5.channel.k8s.io", 404}}, "GET v5", 404},
      {"not logged in", with_stdin, {{"v5.channel.k8s.io", 401}}, "GET v5", 401},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.server.refusals = c.refusals;
    const auto session = world.connect(c.streams);
    CHECK(session.has_value() == (c.code == 0));
    if (!session) CHECK(session.error().http_code() == c.code);
    std::string tried;
    for (const HttpRequest& request : world.server.requests) {
      tried += (tried.empty() ? "" : ",") + request.method;
      for (const auto& [name, value] : request.headers) {
        if (name == "sec-websocket-protocol" && value.find("v5.") != std::string::npos) tried += " v5";
        if (name == "sec-websocket-protocol" && value.find("v4.") != std::string::npos) tried += " v4";
        if (name == "x-stream-protocol-version" && value == "v5.channel.k8s.io") tried += " v5";
      }
    }
    CHECK(tried == c.tried);
  }
}

TEST_CASE("a server that forbids GETs is asked by POST first, for an hour") {
  World world;
  const auto tried = [&world](bool forbids_get) {
    world.server.refusals.clear();
    if (forbids_get) world.server.refusals["v5.channel.k8s.io"] = 403;
    world.server.requests.clear();
    REQUIRE(world.connect(with_stdin));
    std::string methods;
    for (const HttpRequest& request : world.server.requests) methods += request.method + " ";
    return methods;
  };
  CHECK(tried(true) == "GET POST ");
  CHECK(tried(true) == "POST ");
  CHECK(tried(false) == "POST ");
  static_cast<void>(world.simulator.run_for(std::chrono::minutes(61)));
  CHECK(tried(true) == "GET POST ");
  static_cast<void>(world.simulator.run_for(std::chrono::minutes(61)));
  CHECK(tried(false) == "GET ");
  CHECK(tried(false) == "GET ");
  // What SPDY is refused by GET may be given.
  CHECK(tried(true) == "GET POST ");
  world.server.refusals = {{"spdy", 403}};
  world.server.requests.clear();
  CHECK(world.connect(with_stdin));
}

TEST_CASE("a server that chooses the older of two offered protocols is obeyed, one that invents a protocol is not") {
  World world;
  world.server.websocket_choice = "v4.channel.k8s.io";
  const auto session = world.connect(without_stdin);
  REQUIRE(session);
  CHECK((*session)->connection().version() == CommandVersion::v4);
  CHECK_FALSE((*session)->connection().can_finish());

  World other;
  other.server.websocket_choice = "base64.channel.k8s.io";
  CHECK(other.connect(without_stdin).error().code() == Errc::protocol);
}

TEST_CASE("a server that cannot be reached is not asked again in another protocol") {
  World world;
  world.server.broken = true;
  CHECK(world.connect(with_stdin).error().code() == Errc::connect);
  CHECK(world.server.requests.size() == 1);
}

TEST_CASE("a session that ends in order but without a result is no success") {
  for (const bool spdy : {false, true}) {
    World world;
    if (spdy) world.server.refusals = {{"v5.channel.k8s.io, v4.channel.k8s.io", 403}};
    auto session = world.connect(without_stdin);
    REQUIRE(session);
    world.simulator.run([](World& w, RemoteCommand& command) -> asio::awaitable<void> {
      async::TaskGroup group(w.simulator.executor());
      group.spawn(command.run());
      group.spawn(w.server.peer->run());
      REQUIRE(co_await command.ready(w.clock.deadline_in(30s)));
      REQUIRE(co_await w.server.peer->ready(w.clock.deadline_in(30s)));
      CHECK(co_await w.server.peer->write(Channel::out, "half of the outp"));
      for (const auto channel : {Channel::out, Channel::err, Channel::error}) w.server.peer->finish(channel);
      w.server.peer->close();
      CHECK((co_await command.read(Channel::out)).value() == "half of the outp");
      const auto result = co_await command.result();
      REQUIRE_FALSE(result.has_value());
      CHECK(result.error().code() == Errc::closed);
      command.close();
      co_await group.join();
    }(world, **session));
  }
}

TEST_CASE("a result that arrived counts even if the connection breaks behind it, half of one does not") {
  for (const bool whole : {true, false}) {
    World world;
    auto session = world.connect(without_stdin);
    REQUIRE(session);
    world.simulator.run([](World& w, RemoteCommand& command, bool all) -> asio::awaitable<void> {
      async::TaskGroup group(w.simulator.executor());
      group.spawn(command.run());
      group.spawn([](CommandConnection& peer) -> asio::awaitable<void> { co_await peer.run(); }(*w.server.peer));
      const std::string status = wire::encode_result({wire::CommandResult::Kind::exited, 3, "exit 3"});
      CHECK(co_await w.server.peer->write(Channel::error, all ? status : status.substr(0, 20)));
      co_await w.clock.sleep(1s);
      co_await group.stop();
      const auto result = co_await command.result();
      CHECK(result.has_value() == all);
    }(world, **session, whole));
  }
}
