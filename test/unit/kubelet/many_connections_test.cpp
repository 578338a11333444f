// Three thousand connections of exec, attach and port-forward, ended in every possible way: nothing of them is left.
#include <doctest/doctest.h>

#include <map>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/command_connection.hpp"
#include "kube/testing/allocated_bytes.hpp"
#include "kube/testing/link/tunnel_end.hpp"
#include "kubelet/kubelet_server.hpp"
#include "one_node_server.hpp"
#include "spdy_peer.hpp"
#include "upgrading_link.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
namespace wire = kube::wire;
namespace asio = boost::asio;
using Channel = wire::CommandChannel;
using kube::CommandConnection;
using kube::async::TaskGroup;
using liqo::test::SpdyPeer;
using liqo::test::UpgradingLink;
using wire::CommandRole;

constexpr wire::CommandStreams streams{.in = true, .out = true, .err = true};

constexpr std::array<std::string_view, 3> kinds = {"exec", "attach", "port-forward"};
/// How a connection ends.
enum class End : std::uint8_t { by_itself, caller_vanishes, provider_vanishes, provider_refuses, is_cancelled };
constexpr std::size_t ends = 5;

/// SPDY, or a WebSocket.
std::unique_ptr<wire::CommandCodec> make_codec(bool spdy, CommandRole role) {
  if (spdy) return wire::make_spdy_command(role, wire::CommandVersion::v5, streams);
  return wire::make_websocket_command(role, {wire::CommandVersion::v5, false}, streams, [] { return 0U; });
}

using Pipes = std::vector<std::weak_ptr<kube::test::Pipe>>;

/// A virtual kubelet, and the results of its connections so far. Each names a pod of its own.
struct World : liqo::test::OneNodeServer<UpgradingLink> {
  std::map<std::string, std::shared_ptr<UpgradingLink>> links;
  Pipes pipes;
  std::size_t good = 0;

  World() {
    find = [this](const std::string& pod) { return links.at(pod); };
  }
  double gauge(std::string_view family, std::string_view kind) const {
    const std::string text = home.metrics.text();
    const std::string series = std::string(family) + "{kind=\"" + std::string(kind) + "\"} ";
    const std::size_t at = text.find("\n" + series);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + 1 + series.size()));
  }
};

/// A caller, our server between, and a provider.
struct Connection {
  World& world;
  kube::testing::VirtualClock& clock = world.home.clock;
  std::string pod;
  std::string_view kind;
  End end;
  bool is_spdy, is_provider_spdy;
  kube::test::PipePair calling = kube::test::make_pipes(world.home.simulator.executor(), 4096);
  kube::test::PipePair providing = kube::test::make_pipes(world.home.simulator.executor(), 4096);
  std::shared_ptr<UpgradingLink> link = std::make_shared<UpgradingLink>();

  Connection(World& in, std::size_t number)
      : world(in),
        pod("pod-" + std::to_string(number)),
        kind(kinds[number % kinds.size()]),
        end(static_cast<End>(number % ends)),
        is_spdy(number % 2 == 0 || kind == "port-forward"),
        is_provider_spdy(number % 7 < 3) {
    for (const auto* pair : {&calling, &providing})
      for (const auto& pipe : {pair->to_far, pair->to_near}) world.pipes.push_back(pipe);
    link->speaks_spdy = is_provider_spdy;
    link->next = std::move(providing.near);
    if (end == End::provider_refuses) link->refusal = kube::Failure(kube::Errc::connect, "no way there");
    world.links[pod] = link;
  }
  ~Connection() { world.links.erase(pod); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::awaitable<void> serve() {
    kube::net::ServerRequest request;
    request.method = is_spdy ? "POST" : "GET";
    const bool is_forward = kind == "port-forward";
    request.target = is_forward
                         ? "/portForward/rome/" + pod
                         : "/" + std::string(kind) + "/rome/" + pod + "/main?command=cat&input=1&output=1&error=1";
    request.peer = kube::net::PeerIdentity{"admin", {}};
    request.headers = liqo::test::upgrade_headers(is_spdy, is_forward ? "portforward.k8s.io" : "v5.channel.k8s.io");
    liqo::test::FakeResponse response;
    response.stream = std::move(calling.far);
    co_await world.server.handle(request, response);
  }
  void lose(kube::test::PipePair& pair) {
    pair.to_near->close();
    pair.to_far->close();
  }
};

// -- exec and attach --------------------------------------------------------------------------------------------------

asio::awaitable<std::string> read_all(CommandConnection& connection, Channel channel) {
  std::string all;
  for (;;) {
    auto piece = co_await connection.read(channel);
    if (!piece || piece->empty()) co_return all;
    all += *piece;
  }
}

asio::awaitable<void> run_command(Connection& one, CommandConnection& provider) {
  if (!co_await provider.ready(one.clock.deadline_in(1h))) co_return;
  if (!co_await provider.write(Channel::out, "begun")) co_return;
  if (one.end == End::provider_vanishes) {
    co_await one.clock.sleep(1s);
    one.lose(one.providing);
  } else if (one.end == End::by_itself) {
    const std::string input = co_await read_all(provider, Channel::in);
    static_cast<void>(co_await provider.write(Channel::out, input));
    static_cast<void>(co_await provider.write(Channel::error, wire::encode_result({})));
    for (const auto channel : {Channel::out, Channel::err, Channel::error}) provider.finish(channel);
    provider.close();
  } else {
    // Without end: the other side ends it.
    const std::string block(1000, 'x');
    while (co_await provider.write(Channel::out, block)) {
    }
  }
}

/// Acts as the caller, and returns whether it has seen what it had to.
asio::awaitable<bool> call_command(Connection& one, CommandConnection& caller, TaskGroup& serving) {
  if (!co_await caller.ready(one.clock.deadline_in(30s))) co_return false;
  if (one.end == End::provider_refuses) {
    const std::string status = co_await read_all(caller, Channel::error);
    co_return status.contains("no way there");
  }
  const auto begun = co_await caller.read(Channel::out);
  if (!begun || !begun->starts_with("begun")) co_return false;
  switch (one.end) {
    case End::caller_vanishes:
      one.lose(one.calling);
      co_return true;
    case End::is_cancelled:
      co_await serving.stop();
      co_return true;
    case End::provider_vanishes: {
      const std::string status = co_await read_all(caller, Channel::error);
      co_return status.contains("Failure");
    }
    default: {
      if (!co_await caller.write(Channel::in, "hello")) co_return false;
      caller.finish(Channel::in);
      const std::string output = co_await read_all(caller, Channel::out);
      const std::string status = co_await read_all(caller, Channel::error);
      co_return output == "hello" && status.contains("Success");
    }
  }
}

asio::awaitable<void> run_command_connection(Connection& one) {
  const auto executor = one.world.home.simulator.executor();
  CommandConnection caller(executor, one.clock, std::move(one.calling.near),
                           make_codec(one.is_spdy, CommandRole::client));
  CommandConnection provider(executor, one.clock, std::move(one.providing.far),
                             make_codec(one.is_provider_spdy, CommandRole::server));
  TaskGroup group(executor), serving(executor);
  group.spawn(caller.run());
  group.spawn(provider.run());
  group.spawn(run_command(one, provider));
  serving.spawn(one.serve());
  if (co_await call_command(one, caller, serving)) ++one.world.good;
  caller.close();
  co_await serving.join();
  provider.close();
  co_await group.join();
}

// -- port-forward -----------------------------------------------------------------------------------------------------

/// Opens a stream, and returns the bytes that are received on it.
asio::awaitable<SpdyPeer::Heard*> open(SpdyPeer& caller, std::string type) {
  const auto id = caller.session.open({{"streamtype", type}, {"port", "80"}, {"requestid", "0"}}).value();
  caller.flush();
  SpdyPeer::Heard& stream = caller.heard[id];
  co_await caller.until([&stream] { return stream.replied || stream.reset; });
  co_return &stream;
}

asio::awaitable<bool> call_forward(Connection& one, SpdyPeer& caller, TaskGroup& serving) {
  const SpdyPeer::Heard& error = *co_await open(caller, "error");
  caller.session.finish(1);
  const SpdyPeer::Heard& data = *co_await open(caller, "data");
  if (!data.replied) co_return false;
  switch (one.end) {
    case End::caller_vanishes:
      one.lose(one.calling);
      co_return true;
    case End::is_cancelled:
      co_await serving.stop();
      co_return true;
    case End::provider_vanishes:
      one.lose(one.providing);
      co_await caller.until([&error] { return error.finished; });
      co_return error.bytes.contains("lost connection to the provider");
    case End::provider_refuses:
      co_await caller.until([&error] { return error.finished; });
      co_return error.bytes.contains("no way there");
    default:
      caller.session.write(3, "hello");
      caller.session.finish(3);
      caller.flush();
      co_await caller.until([&] { return error.finished && data.finished; });
      co_return data.bytes == "hello" && error.bytes.empty();
  }
}

asio::awaitable<void> run_forward_connection(Connection& one) {
  const auto executor = one.world.home.simulator.executor();
  if (!one.is_provider_spdy)
    one.providing.far = std::make_unique<kube::testing::TunnelEnd>(std::move(one.providing.far));
  SpdyPeer caller(executor, wire::SpdyRole::client), provider(executor, wire::SpdyRole::server);
  provider.echoes = true;
  TaskGroup group(executor), serving(executor);
  group.spawn(caller.run(*one.calling.near));
  group.spawn(provider.run(*one.providing.far));
  serving.spawn(one.serve());
  if (co_await call_forward(one, caller, serving)) ++one.world.good;
  one.calling.near->close();
  co_await serving.join();
  one.providing.far->close();
  co_await group.join();
}

// -- all of them ------------------------------------------------------------------------------------------------------

asio::awaitable<void> run_one(World& world, std::size_t number) {
  Connection one(world, number);
  if (one.kind == "port-forward")
    co_await run_forward_connection(one);
  else
    co_await run_command_connection(one);
}

asio::awaitable<void> run_all(World& world, std::size_t count) {
  constexpr std::size_t at_once = 50;
  for (std::size_t number = 0; number < count;) {
    TaskGroup group(world.home.simulator.executor());
    for (std::size_t i = 0; i < at_once; ++i) group.spawn(run_one(world, number++));
    co_await group.join();
  }
}

/// Runs that many, and returns how many bytes are allocated after their end.
std::size_t live_heap_after(World& world, std::size_t count) {
  world.good = 0;
  world.home.simulator.run(run_all(world, count), 24h * 365);
  CHECK(world.good == count);
  CHECK(world.links.empty());
  std::size_t left = 0;
  for (const auto& pipe : world.pipes) left += pipe.expired() ? 0 : 1;
  CHECK(left == 0);
  CHECK(world.server.counters().connections == 0);
  for (const std::string_view kind : kinds) CHECK(world.gauge("liqod_kubelet_streams", kind) == 0);
  world.pipes = Pipes();
  // The fake of the API server at home remembers its requests.
  world.home.transport.requests = std::vector<kube::HttpRequest>();
  return kube::testing::allocated_bytes();
}

}  // namespace

TEST_CASE("after three thousand connections no task, no stream, no socket and no memory is left") {
  World world;
  // Objects that are made once and kept exist after the first connections.
  const std::size_t before = live_heap_after(world, 500);
  const std::size_t after = live_heap_after(world, 3'000);
  CAPTURE(before);
  CAPTURE(after);
  CHECK(after <= before + before / 100);
  for (const std::string_view kind : kinds) CHECK(world.gauge("liqod_kubelet_streams_total", kind) >= 1'166);
}
