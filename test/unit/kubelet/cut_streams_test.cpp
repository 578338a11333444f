// Streams of the kubelet API that are cut at each of their bytes, on either side: nothing is left of them, all sides
// are notified in time, and cut data does not look complete.
#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/command_connection.hpp"
#include "kube/testing/link/tunnel_end.hpp"
#include "one_node_server.hpp"
#include "spdy_peer.hpp"
#include "upgrading_link.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using kube::CommandConnection;
using kube::async::TaskGroup;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
using liqo::test::SpdyPeer;
using liqo::test::UpgradingLink;
namespace asio = boost::asio;
namespace wire = kube::wire;
using Channel = wire::CommandChannel;
using wire::CommandRole;

constexpr std::size_t never = std::string::npos;

/// Where a connection breaks, and how much has passed.
struct Cut {
  std::size_t in = never, out = never;  // that side gets so many bytes of ours, and sends so many
  std::size_t came = 0, went = 0;
  bool is_cut() const { return in != never || out != never; }
};

/// Our end of a connection, which breaks at the given byte.
class CutStream final : public kube::net::ByteStream {
 public:
  CutStream(std::unique_ptr<kube::net::ByteStream> under, Cut& cut) : under_(std::move(under)), cut_(cut) {}

  asio::awaitable<kube::Result<std::size_t>> read_some(std::span<char> buffer) override {
    if (cut_.came == cut_.in) {
      under_->close();
      co_return 0;
    }
    auto got = co_await under_->read_some(buffer.first(std::min(buffer.size(), cut_.in - cut_.came)));
    cut_.came += got.value_or(0);
    co_return got;
  }
  asio::awaitable<kube::Result<void>> write(std::string_view bytes) override {
    const std::string_view passes = bytes.substr(0, cut_.out - cut_.went);
    cut_.went += passes.size();
    auto written = co_await under_->write(passes);
    if (passes.size() == bytes.size()) co_return written;
    under_->close();
    co_return kube::fail(kube::Errc::closed, "the connection is cut");
  }
  void close() override { under_->close(); }

 private:
  std::unique_ptr<kube::net::ByteStream> under_;
  Cut& cut_;
};

constexpr wire::CommandStreams streams{.in = true, .out = true, .err = true};
constexpr kube::CommandLimits no_pings{.ping_every = {}, .silence = {}};

std::unique_ptr<wire::CommandCodec> make_codec(bool is_spdy, CommandRole role) {
  if (is_spdy) return wire::make_spdy_command(role, wire::CommandVersion::v5, streams);
  return wire::make_websocket_command(role, {wire::CommandVersion::v5, false}, streams, [] { return 0U; });
}

/// One protocol.
struct Dialogue {
  const char* title;
  const char* kind;  // of the gauge
  const char* target;
  bool is_spdy;           // the caller's side
  bool is_provider_spdy;  // else a WebSocket
};

/// The bytes that both ends have received.
struct Heard {
  std::string input;                   // by the provider
  std::string output, errors, status;  // by the caller
  bool is_whole = false;               // as far as the caller can see
  bool is_input_whole = false;         // as far as the provider can see
  kube::Duration took{};               // of our server
  std::vector<std::weak_ptr<kube::test::Pipe>> pipes;
};

/// The received bytes, and whether their end was received.
asio::awaitable<bool> read_all(CommandConnection& connection, Channel channel, std::string& all) {
  for (;;) {
    auto piece = co_await connection.read(channel);
    if (!piece || piece->empty()) co_return piece.has_value();
    all += *piece;
  }
}

asio::awaitable<void> call(CommandConnection& caller, kube::async::Clock& clock, Heard& heard) {
  if (co_await caller.ready(clock.deadline_in(1h))) {
    if (co_await caller.write(Channel::in, "hello")) caller.finish(Channel::in);
    static_cast<void>(co_await read_all(caller, Channel::out, heard.output));
    static_cast<void>(co_await read_all(caller, Channel::err, heard.errors));
    static_cast<void>(co_await read_all(caller, Channel::error, heard.status));
    heard.is_whole = heard.status == wire::encode_result({});
  }
  caller.close();
}

asio::awaitable<void> run_command(CommandConnection& provider, kube::async::Clock& clock, Heard& heard) {
  if (co_await provider.ready(clock.deadline_in(1h))) {
    heard.is_input_whole = co_await read_all(provider, Channel::in, heard.input);
    static_cast<void>(co_await provider.write(Channel::out, heard.input));
    static_cast<void>(co_await provider.write(Channel::err, "oops"));
    static_cast<void>(co_await provider.write(Channel::error, wire::encode_result({})));
    for (const auto channel : {Channel::out, Channel::err, Channel::error}) provider.finish(channel);
  }
  provider.close();
}

/// Opens a stream, unless the connection has ended.
asio::awaitable<std::uint32_t> open(SpdyPeer& caller, std::string type) {
  const auto id = caller.session.open({{"streamtype", type}, {"port", "80"}, {"requestid", "0"}});
  if (!id || caller.ended) co_return 0;
  caller.flush();
  SpdyPeer::Heard& stream = caller.heard[*id];
  co_await caller.until([&stream] { return stream.replied || stream.reset; });
  co_return *id;
}

asio::awaitable<void> forward(SpdyPeer& caller, kube::net::ByteStream& stream, Heard& heard) {
  SpdyPeer::Heard& error = caller.heard[co_await open(caller, "error")];
  caller.session.finish(1);
  SpdyPeer::Heard& data = caller.heard[co_await open(caller, "data")];
  caller.session.write(3, "hello");
  caller.session.finish(3);
  caller.flush();
  co_await caller.until([&] { return error.finished && (data.finished || data.reset); });
  heard.output = data.bytes;
  heard.status = error.bytes;
  heard.errors = "oops";
  heard.is_whole = error.finished && error.bytes.empty() && data.finished && !data.reset;
  stream.close();
}

/// A virtual kubelet, which is used again and again.
struct World : liqo::test::OneNodeServer<UpgradingLink> {
  World() { link = std::make_shared<UpgradingLink>(); }

  Heard speak(const Dialogue& dialogue, Cut& calling, Cut& providing) {
    Heard heard;
    link->speaks_spdy = dialogue.is_provider_spdy;
    link->manners() = {};
    home.simulator.run(std::string_view(dialogue.kind) == "port-forward"
                           ? run_forward(dialogue, calling, providing, heard)
                           : run_exec(dialogue, calling, providing, heard));
    return heard;
  }

  kube::test::PipePair make_pipes(Heard& heard) {
    auto pipes = kube::test::make_pipes(home.simulator.executor(), 4096);
    heard.pipes.emplace_back(pipes.to_far);
    heard.pipes.emplace_back(pipes.to_near);
    pipes.to_far.reset();
    pipes.to_near.reset();
    return pipes;
  }

  asio::awaitable<void> run_exec(const Dialogue& dialogue, Cut& calling, Cut& providing, Heard& heard) {
    const auto executor = home.simulator.executor();
    auto here = make_pipes(heard), there = make_pipes(heard);
    link->next = std::make_unique<CutStream>(std::move(there.near), providing);
    CommandConnection caller(executor, home.clock, std::move(here.near),
                             make_codec(dialogue.is_spdy, CommandRole::client), no_pings);
    CommandConnection provider(executor, home.clock, std::move(there.far),
                               make_codec(dialogue.is_provider_spdy, CommandRole::server), no_pings);
    TaskGroup group(executor);
    group.spawn(serve(dialogue, std::make_unique<CutStream>(std::move(here.far), calling), heard));
    group.spawn(caller.run());
    group.spawn(provider.run());
    group.spawn(call(caller, home.clock, heard));
    group.spawn(run_command(provider, home.clock, heard));
    co_await group.join();
  }

  asio::awaitable<void> run_forward(const Dialogue& dialogue, Cut& calling, Cut& providing, Heard& heard) {
    const auto executor = home.simulator.executor();
    auto here = make_pipes(heard), there = make_pipes(heard);
    link->next = std::make_unique<CutStream>(std::move(there.near), providing);
    if (!dialogue.is_provider_spdy) there.far = std::make_unique<kube::testing::TunnelEnd>(std::move(there.far));
    SpdyPeer caller(executor, wire::SpdyRole::client), provider(executor, wire::SpdyRole::server);
    provider.echoes = true;
    TaskGroup group(executor);
    group.spawn(serve(dialogue, std::make_unique<CutStream>(std::move(here.far), calling), heard));
    group.spawn(caller.run(*here.near));
    group.spawn(provider.run(*there.far));
    group.spawn(forward(caller, *here.near, heard));
    co_await group.join();
    heard.input = provider.heard[3].bytes;
    heard.is_input_whole = provider.heard[3].finished;
  }

  asio::awaitable<void> serve(const Dialogue& dialogue, std::unique_ptr<kube::net::ByteStream> stream, Heard& heard) {
    kube::net::ServerRequest request;
    request.method = dialogue.is_spdy ? "POST" : "GET";
    request.target = dialogue.target;
    request.peer = kube::net::PeerIdentity{"admin", {}};
    const bool is_forward = std::string_view(dialogue.kind) == "port-forward";
    request.headers =
        liqo::test::upgrade_headers(dialogue.is_spdy, is_forward ? "portforward.k8s.io" : "v5.channel.k8s.io");
    FakeResponse response;
    response.stream = std::move(stream);
    const auto begin = home.clock.now();
    co_await server.handle(request, response);
    heard.took = home.clock.now() - begin;
    // If it was never asked for.
    link->next.reset();
  }

  bool has_no_streams(std::string_view kind) const {
    return home.metrics.text().contains("liqod_kubelet_streams{kind=\"" + std::string(kind) + "\"} 0\n");
  }
};

constexpr Dialogue dialogues[] = {
    {"exec by WebSocket", "exec", "/exec/rome/web/main?command=cat&input=1&output=1&error=1", false, false},
    {"exec by SPDY", "exec", "/exec/rome/web/main?command=cat&input=1&output=1&error=1", true, true},
    {"attach", "attach", "/attach/rome/web/main?input=1&output=1&error=1", true, false},
    {"port-forward by tunnel", "port-forward", "/portForward/rome/web", true, false},
    {"port-forward by SPDY", "port-forward", "/portForward/rome/web", true, true},
};

/// Checks of every dialogue, wherever it was cut.
void check(const Dialogue& dialogue, const Heard& heard, const Cut& calling, const Cut& providing) {
  CAPTURE(std::string(dialogue.title));
  CAPTURE(calling.in);
  CAPTURE(calling.out);
  CAPTURE(providing.in);
  CAPTURE(providing.out);
  CAPTURE(heard.status);
  CHECK(heard.took < 45s);
  for (const auto& pipe : heard.pipes) CHECK(pipe.expired());
  if (heard.is_input_whole) CHECK(heard.input == "hello");
  if (heard.is_whole) CHECK((heard.output == "hello" && heard.errors == "oops"));
  // A connected caller learns how it ended, whatever becomes of the provider.
  if (!calling.is_cut() && !heard.is_whole) {
    const bool is_forward = std::string_view(dialogue.kind) == "port-forward";
    const auto result = wire::decode_result(wire::CommandVersion::v5, heard.status);
    CHECK_FALSE(heard.status.empty());
    CHECK((is_forward || (result && result->kind == wire::CommandResult::Kind::failed)));
  }
}

}  // namespace

TEST_CASE("streams that are cut at whatever byte, on whichever side, leave nothing and do not look whole") {
  World world;
  for (const Dialogue& dialogue : dialogues) {
    CAPTURE(std::string(dialogue.title));
    Cut calling, providing;
    const Heard whole = world.speak(dialogue, calling, providing);
    check(dialogue, whole, {}, {});
    REQUIRE(whole.is_whole);
    REQUIRE(whole.is_input_whole);
    const std::size_t lengths[] = {calling.came, calling.went, providing.came, providing.went};
    for (std::size_t side = 0; side < 4; ++side) {
      REQUIRE(lengths[side] > 20);
      for (std::size_t at = 0; at < lengths[side]; ++at) {
        Cut here, there;
        (side == 0 ? here.in : side == 1 ? here.out : side == 2 ? there.in : there.out) = at;
        check(dialogue, world.speak(dialogue, here, there), here, there);
      }
      CHECK(world.has_no_streams(dialogue.kind));
    }
  }
}
