// Requests to the kubelet API that wait while the session with the provider is replaced, or the pod by another one.
#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/wire/spdy_session.hpp"
#include "kubelet/kubelet_server.hpp"
#include "server_tls.hpp"

namespace {

using namespace liqo::kubelet;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
using liqo::test::make_tls;
namespace asio = boost::asio;
namespace wire = kube::wire;

/// A connection to the provider. `during` runs while a request is under way; after it the connection counts that it
/// still exists.
class Link final : public kube::net::Transport, public kube::net::Upgrader {
 public:
  Link(int& asked, std::function<void()> during) : asked_(asked), during_(std::move(during)) {}

  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest, kube::Deadline) override {
    if (during_) during_();
    ++asked_;
    if (is_stopped_) co_return kube::fail(kube::Errc::stopped, "the client was stopped");
    kube::net::Response response;
    response.head.status = 200;
    response.body = std::make_unique<liqo::test::FakeBody>(std::vector<std::string>{"line\n"}, std::nullopt);
    co_return response;
  }
  asio::awaitable<kube::Result<kube::net::Upgraded>> upgrade(kube::HttpRequest, kube::Deadline) override {
    if (during_) during_();
    ++asked_;
    kube::net::Upgraded refused;
    refused.head.status = 403;
    refused.refusal = R"({"kind":"Status","code":403,"message":"not this way"})";
    co_return refused;
  }
  void stop() { is_stopped_ = true; }

 private:
  int& asked_;
  std::function<void()> during_;
  bool is_stopped_ = false;
};

/// A kubelet API whose session with the provider is `link`, and whose API server runs `during_review` while it decides.
struct World {
  std::function<void()> during_review;
  std::string node = "milan";
  int asked = 0;
  std::shared_ptr<Link> link;
  FakeHome home{[this](const kube::HttpRequest&) {
    if (during_review) during_review();
    return FakeAnswer{.status = 201, .pieces = {R"({"status":{"allowed":true}})"}};
  }};
  Authorizer authorizer{home.api, kube::Counter()};
  KubeletServer server{
      home.environment,
      authorizer,
      [this](const std::string&, const std::string&) -> kube::Result<PodRoute> {
        if (!link) return kube::fail(kube::Errc::missing, "there is no session");
        return PodRoute{
            .transport = link, .upgrader = link, .remote_namespace = "t", .remote_pod = "web", .node = node};
      },
      make_tls(),
      {.address = "127.0.0.1", .port = 0}};
  FakeResponse response;

  kube::net::ServerRequest request(std::string method, std::string target) {
    kube::net::ServerRequest made;
    made.method = std::move(method);
    made.target = std::move(target);
    made.peer = kube::net::PeerIdentity{"admin", {}};
    return made;
  }

  void read_log() {
    const auto made = request("GET", "/containerLogs/rome/web/main");
    home.simulator.run(server.handle(made, response));
  }

  /// Runs a command and returns the Status that the caller reads.
  std::string run_command() {
    auto made = request("POST", "/exec/rome/web/main?command=true&output=1");
    made.headers = {
        {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "v4.channel.k8s.io"}};
    const wire::CommandStreams streams{.out = true};
    auto pipes = kube::test::make_pipes(home.simulator.executor());
    response.stream = std::move(pipes.far);
    kube::CommandConnection caller(
        home.simulator.executor(), home.clock, std::move(pipes.near),
        wire::make_spdy_command(wire::CommandRole::client, wire::CommandVersion::v4, streams));
    std::string status;
    home.simulator.run([](World& world, const kube::net::ServerRequest& asked_for, kube::CommandConnection& connection,
                          std::string& told) -> asio::awaitable<void> {
      kube::async::TaskGroup group(world.home.simulator.executor());
      group.spawn(world.server.handle(asked_for, world.response));
      group.spawn(connection.run());
      auto piece = co_await connection.read(wire::CommandChannel::error);
      if (piece) told = *piece;
      connection.close();
      co_await group.join();
    }(*this, made, caller, status));
    return status;
  }

  /// Opens a connection to a port and returns what the caller reads on the error stream.
  std::string forward_port() {
    auto made = request("POST", "/portForward/rome/web?port=80");
    made.headers = {
        {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "portforward.k8s.io"}};
    auto pipes = kube::test::make_pipes(home.simulator.executor());
    response.stream = std::move(pipes.far);
    std::string told;
    home.simulator.run([](World& world, const kube::net::ServerRequest& asked_for, kube::net::ByteStream& connection,
                          std::string& text) -> asio::awaitable<void> {
      kube::async::TaskGroup group(world.home.simulator.executor());
      group.spawn(world.server.handle(asked_for, world.response));
      wire::SpdySession caller(wire::SpdyRole::client);
      for (const char* type : {"error", "data"}) {
        static_cast<void>(caller.open({{"streamtype", type}, {"port", "80"}, {"requestid", "0"}}));
      }
      while (auto frame = caller.next_output()) CHECK(co_await connection.write(*frame));
      std::string buffer(1000, '\0');
      for (bool is_over = false; !is_over;) {
        const auto got = co_await connection.read_some(buffer);
        if (!got || *got == 0) break;
        CHECK(caller.feed(std::string_view(buffer).substr(0, *got)));
        while (auto event = caller.next()) {
          text += event->bytes;
          is_over = is_over || event->kind == wire::SpdyEvent::Kind::finished;
        }
      }
      CHECK(world.home.metrics.text().contains("liqod_kubelet_streams{kind=\"port-forward\"} 1"));
      connection.close();
      co_await group.join();
      CHECK(world.home.metrics.text().contains("liqod_kubelet_streams{kind=\"port-forward\"} 0"));
    }(*this, made, *pipes.near, told));
    return told;
  }
};

}  // namespace

TEST_CASE("a session that goes away between two attempts at exec leaves the connection to who still uses it") {
  World world;
  std::weak_ptr<Link> link;
  world.link = std::make_shared<Link>(world.asked, [&] {
    world.link.reset();
    CHECK_FALSE(link.expired());
  });
  link = world.link;
  const std::string status = world.run_command();
  CHECK(world.asked == 2);  // WebSocket and SPDY, both over the same connection
  CHECK(status.contains("not this way"));
  CHECK(link.expired());
}

TEST_CASE("a session that goes away between two attempts at port-forward, too, and the caller hears why") {
  World world;
  std::weak_ptr<Link> link;
  world.link = std::make_shared<Link>(world.asked, [&] {
    world.link.reset();
    CHECK_FALSE(link.expired());
  });
  link = world.link;
  CHECK(world.forward_port() ==
        "error forwarding port 80 to pod rome/web: asking the provider of node milan: not this way");
  CHECK(world.asked == 2);
  CHECK(link.expired());
}

TEST_CASE("a session that is replaced while the caller is checked is not asked any more") {
  for (const bool log : {true, false}) {
    CAPTURE(log);
    World world;
    int new_asked = 0;
    world.link = std::make_shared<Link>(world.asked, nullptr);
    world.during_review = [&] { world.link = std::make_shared<Link>(new_asked, nullptr); };
    if (log) {
      world.read_log();
      CHECK(world.response.body == "line\n");
    } else {
      CHECK(world.run_command().contains("not this way"));
    }
    CHECK(world.asked == 0);
    CHECK(new_asked > 0);
  }
}

TEST_CASE("a session that stops while it is asked for a log is told as the provider's trouble") {
  World world;
  world.link = std::make_shared<Link>(world.asked, [&world] {
    world.link->stop();
    world.link.reset();
  });
  world.read_log();
  CHECK(world.asked == 1);
  CHECK(world.response.status == 502);
}

TEST_CASE("the right on one node opens no pod that has come to another node meanwhile") {
  World world;
  world.link = std::make_shared<Link>(world.asked, nullptr);
  world.during_review = [&world] { world.node = "paris"; };
  world.read_log();
  CHECK(world.response.status == 404);
  CHECK(world.response.body == "pod rome/web has left node milan; ask once more\n");
  CHECK(world.asked == 0);
}

TEST_CASE("a pod that has gone while the caller was checked is not there") {
  World world;
  world.link = std::make_shared<Link>(world.asked, nullptr);
  world.during_review = [&world] { world.link.reset(); };
  world.read_log();
  CHECK(world.response.status == 404);
}
