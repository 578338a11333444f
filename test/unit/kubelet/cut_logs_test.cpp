// Logs that are cut at each byte, over sockets: of the provider's answer, and of the bytes that the caller sends and
// reads.
#include <doctest/doctest.h>

#include <boost/asio/ip/tcp.hpp>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/http/http_client.hpp"
#include "kubelet/kubelet_server.hpp"
#include "server_tls.hpp"
#include "support/raw_socket.hpp"
#include "support/run.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using kube::async::TaskGroup;
using kube::test::RawSocket;
using liqo::test::FakeAnswer;
using liqo::test::FakeTransport;
namespace asio = boost::asio;
namespace net = kube::net;

kube::async::RealClock real;

const std::string log_head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
const std::string log_lines = "7\r\nline 1\n\r\n7\r\nline 2\n\r\n";
const std::string log_end = "0\r\n\r\n";
const std::string question =
    "GET /containerLogs/rome/web/main?follow=true HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";

/// A provider that sends that much of a log to each caller.
struct Provider {
  TaskGroup group;
  asio::ip::tcp::acceptor acceptor;
  std::string says;
  bool stays = false;  // connected, after it has sent that
  int left_by_peer = 0;

  explicit Provider(const asio::any_io_executor& executor)
      : group(executor, TaskGroup::OnFailure::keep_others), acceptor(executor, {asio::ip::address_v4::loopback(), 0}) {
    group.spawn(accept());
  }
  asio::awaitable<void> accept() {
    while (true) group.spawn(serve(RawSocket(co_await acceptor.async_accept(asio::use_awaitable))));
  }
  asio::awaitable<void> serve(RawSocket socket) {
    static_cast<void>(co_await socket.read_until("\r\n\r\n"));
    co_await socket.send(says);
    if (!stays) co_return;
    co_await socket.read_all();
    ++left_by_peer;
  }
  std::shared_ptr<net::Credentials> credentials() const {
    kube::wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = acceptor.local_endpoint().port(), .path = ""};
    return net::Credentials::make(std::move(config), real).value();
  }
};

/// The kubelet API behind a server without TLS, which admits all callers.
struct World {
  FakeTransport api_server{
      [](const kube::HttpRequest&) { return FakeAnswer{.status = 201, .pieces = {R"({"status":{"allowed":true}})"}}; }};
  kube::Random random{1};
  kube::Metrics metrics;
  kube::Api api{api_server, real, random, metrics, {.cluster = "rome"}};
  Authorizer authorizer{api, kube::Counter()};
  Provider provider;
  std::shared_ptr<net::HttpClient> client;
  KubeletServer kubelet;
  TaskGroup tasks;
  net::HttpServer server;
  std::uint16_t port = 0;

  explicit World(const asio::any_io_executor& executor)
      : provider(executor),
        client(std::make_shared<net::HttpClient>(executor, real, provider.credentials())),
        kubelet({executor, real, random, metrics}, authorizer,
                [this](const std::string&, const std::string&) -> kube::Result<PodRoute> {
                  return PodRoute{.transport = client,
                                  .remote_namespace = "t",
                                  .remote_pod = "web",
                                  .provider = "milan",
                                  .node = "node"};
                },
                liqo::test::make_tls(), {.address = "127.0.0.1", .port = 0}),
        tasks(executor, TaskGroup::OnFailure::keep_others),
        server(executor, real, {.address = "127.0.0.1"},
               [this](const net::ServerRequest& request, net::ServerResponse& response) {
                 return handle(request, response);
               }) {
    port = server.listen().value();
    tasks.spawn(server.serve());
  }
  asio::awaitable<void> handle(net::ServerRequest request, net::ServerResponse& response) {
    request.peer = net::PeerIdentity{"admin", {}};
    co_await kubelet.handle(request, response);
  }
  asio::awaitable<void> stop() {
    co_await server.stop(1s);
    co_await tasks.stop();
    co_await client->stop();
    co_await provider.group.stop();
  }
  /// Waits until no caller is served and no log is open any more.
  asio::awaitable<void> quiet() {
    const auto limit = real.now() + 10s;
    const auto is_quiet = [this] {
      return server.counters().connections == 0 && metrics.text().contains("liqod_kubelet_streams{kind=\"logs\"} 0\n");
    };
    while (!is_quiet() && real.now() < limit) co_await real.sleep(1ms);
    CHECK(is_quiet());
  }
};

asio::awaitable<std::string> talk(std::uint16_t port, std::string bytes) {
  RawSocket socket(co_await asio::this_coro::executor);
  co_await socket.connect(port);
  co_await socket.send(bytes);
  co_return co_await socket.read_all();
}

}  // namespace

TEST_CASE("a log that the provider cuts at whatever byte is refused, or does not end like a whole one") {
  kube::test::run([]() -> asio::awaitable<void> {
    World world(co_await asio::this_coro::executor);
    const std::string whole = log_head + log_lines + log_end;
    for (std::size_t at = 0; at <= whole.size(); ++at) {
      CAPTURE(at);
      world.provider.says = whole.substr(0, at);
      const std::string answer = co_await talk(world.port, question);
      if (at < log_head.size()) {
        CHECK(answer.starts_with("HTTP/1.1 502 "));
        CHECK(answer.contains("cluster milan cannot be reached"));
      } else {
        CHECK(answer.starts_with("HTTP/1.1 200 "));
        CHECK(answer.ends_with("\r\n0\r\n\r\n") == (at == whole.size()));
        CHECK(answer.contains("line 2\n") == (at >= log_head.size() + log_lines.size() - 2));
      }
    }
    co_await world.quiet();
    co_await world.stop();
  }());
}

TEST_CASE("a caller that goes at whatever byte of its question, or of the log, ends the log at the provider") {
  kube::test::run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    World world(executor);
    for (std::size_t at = 0; at < question.size(); ++at) {
      RawSocket socket(executor);
      co_await socket.connect(world.port);
      co_await socket.send(question.substr(0, at));
    }
    co_await world.quiet();
    CHECK(world.server.counters().requests == 0);
    // From here on it goes on for ever.
    world.provider.says = log_head + log_lines;
    world.provider.stays = true;
    int asked = 0;
    for (std::size_t at = 0; at < 150; ++at) {
      RawSocket socket(executor);
      co_await socket.connect(world.port);
      co_await socket.send(question);
      for (std::size_t read = 0; read < at;) {
        std::string some(at - read, '\0');
        read += co_await socket.socket().async_read_some(asio::buffer(some), asio::use_awaitable);
      }
      ++asked;
    }
    co_await world.quiet();
    const auto limit = real.now() + 10s;
    while (world.provider.left_by_peer < asked && real.now() < limit) co_await real.sleep(1ms);
    CHECK(world.provider.left_by_peer == asked);
    co_await world.stop();
  }());
}
