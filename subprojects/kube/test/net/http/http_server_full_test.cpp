// A server that has no more room: who goes, who stays, and what it holds meanwhile.
#include <list>

#include "kube/async/event.hpp"
#include "kube/net/http/http_client.hpp"
#include "served.hpp"
#include "support/pki.hpp"
#include "support/run.hpp"

namespace kube::test {

using namespace kube::net;

namespace {

asio::awaitable<void> echo(const ServerRequest& request, ServerResponse& response) {
  static_cast<void>(co_await response.send(200, {}, request.target + " " + std::to_string(request.body.size())));
}

const std::string last_request = "GET /last HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";

/// A request whose body is announced and comes only in part.
std::string part(std::size_t announced, std::size_t sent) {
  return "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: " + std::to_string(announced) + "\r\n\r\n" +
         std::string(sent, 'b');
}

asio::awaitable<void> wait_until(std::function<bool()> condition) {
  const auto limit = real.now() + 10s;
  while (!condition() && real.now() < limit) co_await real.sleep(1ms);
  CHECK(condition());
}

}  // namespace

TEST_CASE("a new connection takes the place of the one that has been idle for longest") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {.max_connections = 2}, echo);
    RawSocket one(executor), two(executor);
    for (RawSocket* socket : {&one, &two, &one}) {  // the first is used again, so the second is the oldest
      if (!socket->socket().is_open()) co_await socket->connect(served.port);
      co_await socket->send("GET /a HTTP/1.1\r\nhost: h\r\n\r\n");
      co_await socket->read_until("/a 0");
    }
    const std::string answer = co_await talk(served.port, last_request);
    CHECK(answer.ends_with("/last 0"));
    const std::string end = co_await two.read_all();
    CHECK(end.empty());
    co_await one.send(last_request);
    const std::string again = co_await one.read_all();
    CHECK(again.ends_with("/last 0"));
    CHECK(served.server.counters().evicted == 1);
    CHECK(served.server.counters().refused == 0);
    co_await served.stop();
  }());
}

TEST_CASE("while all connections are busy a new one is closed at once and counted") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    async::Event leave(executor);
    int entered = 0;
    Served served(executor, {.max_connections = 2},
                  [&](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
                    ++entered;
                    co_await leave.wait();
                    static_cast<void>(co_await response.send(200, {}, "done"));
                  });
    RawSocket one(executor), two(executor);
    for (RawSocket* socket : {&one, &two}) {
      co_await socket->connect(served.port);
      co_await socket->send(last_request);
    }
    co_await wait_until([&] { return entered == 2; });
    const std::string nothing = co_await talk(served.port, last_request);
    CHECK(nothing.empty());
    CHECK(served.server.counters().refused == 1);
    leave.set();
    for (RawSocket* socket : {&one, &two}) {
      const std::string answer = co_await socket->read_all();
      CHECK(answer.ends_with("done"));
    }
    co_await served.stop();
  }());
}

TEST_CASE("connections that never finish a handshake keep nobody out, nor those who are served") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = self_signed();
    HttpServerOptions options;
    options.max_connections = 8;
    auto tls =
        TlsContext::server({.certificate_pem = own.certificate_pem, .key_pem = own.key_pem, .client_ca_pem = {}});
    REQUIRE(tls.has_value());
    options.tls = std::move(*tls);
    Served served(executor, std::move(options), echo);
    wire::ClusterConfig config;
    config.server = {.tls = true, .host = "127.0.0.1", .port = served.port, .path = ""};
    config.ca_pem = own.certificate_pem;
    HttpClient client(executor, real, Credentials::make(std::move(config), real).value());
    std::list<RawSocket> silent;
    for (int round = 0; round < 3; ++round) {
      HttpRequest request;
      request.target = "/";
      auto answer = co_await client.send(std::move(request), real.deadline_in(5s));
      REQUIRE(answer.has_value());
      CHECK(answer->head.status == 200);
      while (!(co_await answer->body->read()).value_or("").empty()) {
      }
      for (int i = 0; i < 20; ++i) {
        silent.emplace_back(executor);
        co_await silent.back().connect(served.port);
      }
      const auto all = 20U * static_cast<unsigned>(round + 1) + 1;
      co_await wait_until([&] { return served.server.counters().accepted >= all; });
      CHECK(served.server.counters().connections <= 8 + 1);
    }
    // The client has had one connection all the time.
    CHECK(client.counters().connects == 1);
    CHECK(served.server.counters().evicted == 60 - 7);
    CHECK(served.server.counters().handshake_failures == 0);
    co_await client.stop();
    co_await served.stop();
  }());
}

TEST_CASE("who is known by a certificate has room beside strangers, and neither takes that of the other") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = self_signed();
    const auto known = self_signed("apiserver");
    async::Event leave(executor);
    std::size_t entered = 0;
    HttpServerOptions options;
    options.max_connections = 4;
    options.max_known = 3;
    auto tls = TlsContext::server(
        {.certificate_pem = own.certificate_pem, .key_pem = own.key_pem, .client_ca_pem = known.certificate_pem});
    REQUIRE(tls.has_value());
    options.tls = std::move(*tls);
    // Those who are known stay until the end, as streams do.
    Served served(executor, std::move(options),
                  [&](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                    ++entered;
                    if (request.peer) co_await leave.wait();
                    static_cast<void>(co_await response.send(200, {}, "done"));
                  });
    std::list<RawSocket> silent;
    const auto crowd = [&]() -> asio::awaitable<void> {
      for (int i = 0; i < 20; ++i) {
        silent.emplace_back(executor);
        co_await silent.back().connect(served.port);
      }
    };
    wire::ClusterConfig config;
    config.server = {.tls = true, .host = "127.0.0.1", .port = served.port, .path = ""};
    config.ca_pem = own.certificate_pem;
    wire::ClusterConfig with_certificate = config;
    with_certificate.client_certificate_pem = known.certificate_pem;
    with_certificate.client_key_pem = known.key_pem;
    const auto ask = [&](const wire::ClusterConfig& as, bool& answered) -> asio::awaitable<void> {
      HttpClient client(executor, real, Credentials::make(as, real).value());
      HttpRequest request;
      request.target = "/";
      const auto answer = co_await client.send(std::move(request), real.deadline_in(5s));
      answered = answer && answer->head.status == 200;
      co_await client.stop();
    };
    bool streams[3] = {}, fourth = true, stranger = false;
    async::TaskGroup asking(executor);
    for (std::size_t i = 0; i < 3; ++i) {
      asking.spawn(ask(with_certificate, streams[i]));
      co_await wait_until([&] { return entered == i + 1; });
      co_await crowd();
    }
    co_await wait_until([&] { return served.server.counters().accepted == 3 + 60; });
    // Three that are known, and of the silent ones as many as fit beside them.
    co_await wait_until([&] { return served.server.counters().connections == 3 + 4; });
    CHECK(served.server.counters().evicted == 60 - 4);
    // The streams leave a stranger its place, and one more that is known finds none.
    co_await ask(config, stranger);
    CHECK(stranger);
    CHECK(served.server.counters().refused == 0);
    co_await ask(with_certificate, fourth);
    CHECK_FALSE(fourth);
    CHECK(served.server.counters().refused >= 1);
    leave.set();
    co_await asking.join();
    for (const bool answered : streams) CHECK(answered);
    co_await served.stop();
  }());
}

TEST_CASE("the server holds no more than it may: the oldest unfinished requests are given up") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {.max_held = 100'000}, echo);
    std::list<RawSocket> slow;
    for (unsigned i = 0; i < 10; ++i) {
      slow.emplace_back(executor);
      co_await slow.back().connect(served.port);
      co_await slow.back().send(part(40'000, 30'000));
      co_await wait_until([&] {
        const auto now = served.server.counters();
        return now.held > std::min(i + 1, 3U) * 30'000 && now.evicted == (i < 3 ? 0 : i - 2);
      });
      CHECK(served.server.counters().held <= 100'000);
    }
    co_await wait_until([&] { return served.server.counters().connections == 3; });
    CHECK(served.server.counters().evicted == 7);
    const std::string answer = co_await talk(served.port, last_request);
    CHECK(answer.ends_with("/last 0"));
    // The one that was left is served when the rest has come.
    co_await slow.back().send(std::string(10'000, 'b'));
    const std::string late = co_await slow.back().read_until("40000");
    CHECK(late.ends_with("/ 40000"));
    slow.clear();
    co_await wait_until([&] { return served.server.counters().held == 0; });
    co_await served.stop();
  }());
}

TEST_CASE("a request for which there is no room is answered 503") {
  run([]() -> asio::awaitable<void> {
    Served served(co_await asio::this_coro::executor, {.max_held = 10'000}, echo);
    const std::string answer = co_await talk(served.port, part(20'000, 20'000));
    CHECK(answer.starts_with("HTTP/1.1 503 "));
    CHECK(answer.contains("no room"));
    CHECK(served.server.counters().without_room == 1);
    CHECK(served.server.counters().held == 0);
    co_await served.stop();
  }());
}

TEST_CASE("what a handler holds counts until its request is over") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    async::Event leave(executor);
    std::size_t entered = 0;
    Served served(executor, {.max_held = 10'000},
                  [&](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
                    const bool held = response.hold(6'000);
                    ++entered;
                    if (held) co_await leave.wait();
                    static_cast<void>(co_await response.send(200, {}, held ? "held" : "full"));
                  });
    RawSocket first(executor);
    co_await first.connect(served.port);
    co_await first.send(last_request);
    co_await wait_until([&] { return entered == 1; });
    const std::string second = co_await talk(served.port, last_request);
    CHECK(second.ends_with("full"));
    leave.set();
    const std::string answer = co_await first.read_all();
    CHECK(answer.ends_with("held"));
    co_await wait_until([&] { return served.server.counters().held == 0; });
    const std::string third = co_await talk(served.port, last_request);
    CHECK(third.ends_with("held"));
    co_await served.stop();
  }());
}

TEST_CASE("who does not take an answer makes room for others") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    int entered = 0;
    Served served(executor, {.max_connections = 1},
                  [&entered](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
                    const bool first = ++entered == 1;
                    static_cast<void>(co_await response.send(200, {}, first ? std::string(64U << 20, 'x') : "small"));
                  });
    RawSocket slow(executor);
    co_await slow.connect(served.port);
    co_await slow.send(last_request);
    co_await wait_until([&] { return entered == 1; });
    const std::string answer = co_await talk(served.port, last_request);
    CHECK(answer.ends_with("small"));
    CHECK(served.server.counters().evicted == 1);
    co_await served.stop();
  }());
}

}  // namespace kube::test
