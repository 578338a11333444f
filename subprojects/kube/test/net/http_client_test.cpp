#include "kube/net/http_client.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"
#include "support/run.hpp"
#include "support/tls_h2_server.hpp"

namespace {

using namespace kube;
using namespace kube::net;
using namespace std::chrono_literals;
using kube::test::H2Server;
using kube::test::RawSocket;
using kube::test::run;
using kube::test::TlsH2Server;
using Connection = TlsH2Server::Connection;

async::RealClock real;

wire::ClusterConfig config_for(std::uint16_t port, const std::string& ca_pem, std::string host = "127.0.0.1") {
  wire::ClusterConfig config;
  config.server = {.tls = true, .host = std::move(host), .port = port, .path = "/prefix"};
  config.cluster = "test";
  config.ca_pem = ca_pem;
  return config;
}
std::shared_ptr<Credentials> credentials(wire::ClusterConfig config) {
  auto made = Credentials::make(std::move(config), real);
  REQUIRE(made.has_value());
  return *made;
}

HttpRequest request_for(std::string target, bool repeatable = true, std::string method = "GET") {
  HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.repeatable = repeatable;
  return request;
}

asio::awaitable<Result<std::string>> read_all(Body& body) {
  std::string text;
  while (true) {
    auto chunk = co_await body.read();
    if (!chunk) co_return chunk;
    if (chunk->empty()) co_return text;
    text += *chunk;
  }
}

/// The answer as "status body", a failure as "code: text".
asio::awaitable<std::string> ask(Transport& client, HttpRequest request, Duration limit = 5s) {
  auto response = co_await client.send(std::move(request), real.deadline_in(limit));
  if (!response) co_return std::string(to_string(response.error().code())) + ": " + response.error().text();
  auto body = co_await read_all(*response->body);
  if (!body)
    co_return std::to_string(response->head.status) + " " + std::string(to_string(body.error().code())) + ": " +
        body.error().text();
  co_return std::to_string(response->head.status) + " " + *body;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

asio::awaitable<void> wait_until(std::function<bool()> condition) {
  const auto limit = real.now() + 10s;
  while (!condition() && real.now() < limit) co_await real.sleep(1ms);
  CHECK(condition());
}

/// A server, a client of it, and the end of both.
struct Pair {
  net::KeyAndCertificate identity = test::self_signed();
  TlsH2Server server;
  HttpClient client;

  explicit Pair(const asio::any_io_executor& executor, HttpClientOptions options = {}, bool http2 = true)
      : server(executor, identity, http2),
        client(executor, real, credentials(config_for(server.port(), identity.certificate_pem)), std::move(options)) {
    server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      connection.h2.answer(id, 200, "answer to " + request.headers.at(":path"));
    };
  }
  asio::awaitable<void> stop() {
    co_await client.stop();
    co_await server.stop();
  }
};

asio::awaitable<void> ask_into(Transport& client, HttpRequest request, std::string& answer) {
  answer = co_await ask(client, std::move(request));
}

}  // namespace

TEST_CASE("requests share one connection, with prefix, user agent and token") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto identity = test::self_signed();
    TlsH2Server server(executor, identity);
    std::map<std::string, std::string> seen;
    server.on_request = [&seen](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      seen = request.headers;
      connection.h2.answer(id, 200, request.body);
    };
    auto config = config_for(server.port(), identity.certificate_pem);
    config.token = "secret\n";
    HttpClientOptions options;
    options.user_agent = "liqod/1";
    HttpClient client(executor, real, credentials(std::move(config)), options);
    async::TaskGroup group(executor);
    std::string answers[20];
    for (auto& answer : answers) {
      HttpRequest request = request_for("/x", false, "POST");
      request.body = std::string(100'000, 'b');
      group.spawn(ask_into(client, std::move(request), answer));
    }
    co_await group.join();
    for (const auto& answer : answers) CHECK(answer == "200 " + std::string(100'000, 'b'));
    CHECK(seen[":path"] == "/prefix/x");
    CHECK(seen["authorization"] == "Bearer secret");
    CHECK(seen["user-agent"] == "liqod/1");
    CHECK(server.accepted == 1);
    CHECK(client.counters().requests == 20);
    CHECK(client.counters().streams == 0);
    CHECK(client.counters().bytes_out > 2'000'000);
    co_await client.stop();
    co_await server.stop();
  }());
}

TEST_CASE("a server that cannot be trusted is refused with the reason") {
  struct Case {
    std::string title;
    std::vector<std::string> addresses;
    Duration age;
    Duration validity;
    bool right_ca;
    std::string server_name;
    std::string part;
  };
  const Case cases[] = {
      {"wrong CA", {"127.0.0.1"}, 0s, 1h, false, "", "certificate was not accepted: self-signed certificate"},
      {"expired", {"127.0.0.1"}, 48h, 1h, true, "", "certificate has expired"},
      {"not yet valid", {"127.0.0.1"}, -48h, 1h, true, "", "certificate is not yet valid"},
      {"wrong address", {"10.1.2.3"}, 0s, 1h, true, "", "it is not for '127.0.0.1' but for localhost, 10.1.2.3"},
      {"wrong name",
       {"127.0.0.1"},
       0s,
       1h,
       true,
       "kubernetes.default",
       "it is not for 'kubernetes.default' but for localhost, 127.0.0.1"},
      {"the right name", {"10.1.2.3"}, 0s, 1h, true, "localhost", ""},
  };
  run([&cases]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    for (const Case& test : cases) {
      CAPTURE(test.title);
      const auto identity = test::self_signed("server", {}, test.addresses, test.age, test.validity);
      TlsH2Server server(executor, identity);
      server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request&) {
        connection.h2.answer(id, 200, "fine");
      };
      auto config =
          config_for(server.port(), test.right_ca ? identity.certificate_pem : test::self_signed().certificate_pem);
      config.tls_server_name = test.server_name;
      const std::string where = config.server.host_port();
      HttpClient client(executor, real, credentials(config));
      const std::string answer = co_await ask(client, request_for("/"));
      CAPTURE(answer);
      if (test.part.empty()) {
        CHECK(answer == "200 fine");
      } else {
        CHECK(answer.starts_with("tls: connecting to " + where + ": TLS: the server's "));
        CHECK(contains(answer, test.part));
      }
      co_await client.stop();
      // Only where the kubeconfig says so is a certificate not looked at.
      config.insecure_skip_tls_verify = true;
      config.ca_pem.clear();
      HttpClient careless(executor, real, credentials(config));
      const std::string fine = co_await ask(careless, request_for("/"));
      CHECK(fine == "200 fine");
      co_await careless.stop();
      co_await server.stop();
    }
  }());
}

TEST_CASE(
    "a server that is not there fails requests at once, with host, port and cause, and is found when it comes back") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpClientOptions options;
    options.backoff_min = 1s;
    options.backoff_max = 1s;
    Pair pair(executor, options);
    pair.server.close_port();
    const std::string where = "connecting to 127.0.0.1:" + std::to_string(pair.server.port());
    std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "connect: " + where + ": Connection refused");
    // Within the backoff nothing is dialled.
    for (int i = 0; i < 10; ++i) answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "connect: " + where + ": Connection refused");
    CHECK(pair.client.counters().connect_failures == 1);
    pair.server.open_port();
    co_await real.sleep(1001ms);
    answer = co_await ask(pair.client, request_for("/back"));
    CHECK(answer == "200 answer to /prefix/back");
    co_await pair.stop();
  }());
}

TEST_CASE("a name that cannot be looked up, or not in time, is a failure of connecting") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpClient client(executor, real,
                      credentials(config_for(1, test::self_signed().certificate_pem, "no-such-host.invalid")));
    const std::string answer = co_await ask(client, request_for("/"), 20s);
    CAPTURE(answer);
    const bool told = answer.starts_with("connect: connecting to no-such-host.invalid:1: looking up the name: ") ||
                      answer.starts_with("timeout: ");
    CHECK(told);
    co_await client.stop();
  }());
}

TEST_CASE("a connection that breaks before the answer is survived where the verb may be repeated, once") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    int requests = 0, drops = 1;
    pair.server.on_request = [&](Connection& connection, std::int32_t id, const H2Server::Request&) {
      ++requests;
      if (drops-- > 0) {
        connection.drop();
      } else {
        connection.h2.answer(id, 200, "at last");
      }
    };
    std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 at last");
    CHECK(requests == 2);
    CHECK(pair.client.counters().repeats == 1);

    drops = 1;
    answer = co_await ask(pair.client, request_for("/", false, "POST"));
    CHECK(answer.starts_with("closed: 127.0.0.1:"));
    CHECK(requests == 3);

    drops = 2;
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer.starts_with("closed: "));
    CHECK(requests == 5);
    co_await pair.stop();
  }());
}

TEST_CASE("a connection that breaks within a body is told to its reader") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request&) {
      connection.h2.head(id, 200);
      connection.h2.push(id, "half of it", false);
    };
    auto response = co_await pair.client.send(request_for("/"), real.deadline_in(5s));
    REQUIRE(response.has_value());
    auto chunk = co_await response->body->read();
    CHECK(chunk.value() == "half of it");
    pair.server.connections.front().drop();
    chunk = co_await response->body->read();
    REQUIRE_FALSE(chunk.has_value());
    CHECK(chunk.error().code() == Errc::closed);
    co_await pair.stop();
  }());
}

TEST_CASE("streams that GOAWAY left out or that were refused are repeated whatever the verb; older ones finish") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    std::int32_t held = 0;
    Connection* first = nullptr;
    int refusals = 2;
    pair.server.on_request = [&](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      const std::string& path = request.headers.at(":path");
      if (path == "/prefix/held") {
        held = id;
        first = &connection;
      } else if (path == "/prefix/leave" && &connection == first) {
        connection.h2.goaway(held);
      } else if (path == "/prefix/refused" && refusals-- > 0) {
        connection.h2.reset(id, NGHTTP2_REFUSED_STREAM);
      } else {
        connection.h2.answer(id, 200, path);
      }
    };
    async::TaskGroup group(executor);
    std::string older;
    group.spawn(ask_into(pair.client, request_for("/held", false, "POST"), older));
    co_await wait_until([&] { return first != nullptr; });
    std::string answer = co_await ask(pair.client, request_for("/leave", false, "POST"));
    CHECK(answer == "200 /prefix/leave");
    CHECK(pair.server.accepted == 2);
    first->h2.answer(held, 200, "held");
    co_await first->flush();
    co_await group.join();
    CHECK(older == "200 held");
    answer = co_await ask(pair.client, request_for("/refused", false, "POST"));
    CHECK(answer == "200 /prefix/refused");
    CHECK(pair.client.counters().repeats == 3);
    co_await wait_until([&] { return pair.client.counters().connections == 1; });
    co_await pair.stop();
  }());
}

TEST_CASE("a request that is late is reset at the server and does not disturb the connection") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      if (request.headers.at(":path") != "/prefix/never") connection.h2.answer(id, 200, "fine");
    };
    std::string answer = co_await ask(pair.client, request_for("/"));
    answer = co_await ask(pair.client, request_for("/never"), 50ms);
    CHECK(answer.starts_with("timeout: "));
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 fine");
    CHECK(pair.server.connections.front().h2.resets == std::vector<std::int32_t>{3});
    CHECK(pair.server.accepted == 1);
    co_await pair.stop();
  }());
}

TEST_CASE("a send that is cancelled, and a body that is let go, reset their streams") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    int requests = 0;
    pair.server.on_request = [&requests](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      ++requests;
      if (request.headers.at(":path") == "/prefix/watch") connection.h2.head(id, 200);
    };
    {
      async::TaskGroup group(executor);
      std::string ignored;
      group.spawn(ask_into(pair.client, request_for("/never"), ignored));
      co_await wait_until([&] { return requests == 1; });
      co_await group.stop();
    }
    {
      auto response = co_await pair.client.send(request_for("/watch"), real.deadline_in(5s));
      REQUIRE(response.has_value());
      // A read under a deadline leaves the body as it was.
      auto late = co_await async::with_timeout(real, response->body->read(), 5ms);
      CHECK_FALSE(late.has_value());
      pair.server.connections.front().h2.push(3, "event", false);
      co_await pair.server.connections.front().flush();
      auto chunk = co_await response->body->read();
      CHECK(chunk.value() == "event");
    }
    co_await wait_until([&] { return pair.server.connections.front().h2.resets.size() == 2; });
    CHECK(pair.client.counters().streams == 0);
    co_await pair.stop();
  }());
}

TEST_CASE("a slow reader of a big body holds at most its window, and others pass it") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    constexpr std::size_t size = 32U << 20;
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      connection.h2.answer(id, 200, request.headers.at(":path") == "/prefix/big" ? std::string(size, 'x') : "small");
    };
    auto response = co_await pair.client.send(request_for("/big"), real.deadline_in(5s));
    REQUIRE(response.has_value());
    co_await wait_until([&] { return pair.client.counters().bytes_in > 1'000'000; });
    for (int i = 0; i < 20; ++i) {
      const std::string answer = co_await ask(pair.client, request_for("/small"));
      CHECK(answer == "200 small");
    }
    CHECK(pair.client.counters().bytes_in < 1'200'000);
    auto body = co_await read_all(*response->body);
    REQUIRE(body.has_value());
    CHECK(body->size() == size);
    CHECK(pair.server.accepted == 1);
    co_await pair.stop();
  }());
}

TEST_CASE("when long streams fill the server's limit, another connection is opened for the rest") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    pair.server.max_streams = 3;
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      if (request.headers.at(":path") == "/prefix/watch") {
        connection.h2.head(id, 200);
      } else {
        connection.h2.answer(id, 200, "fine");
      }
    };
    std::string answer = co_await ask(pair.client, request_for("/"));
    std::vector<Response> watches;
    for (int i = 0; i < 7; ++i) {
      auto response = co_await pair.client.send(request_for("/watch"), real.deadline_in(5s));
      REQUIRE(response.has_value());
      watches.push_back(std::move(*response));
    }
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 fine");
    CHECK(pair.server.accepted == 3);
    CHECK(pair.client.counters().streams == 7);
    watches.clear();
    co_await pair.stop();
  }());
}

TEST_CASE("a peer that falls silent is found by ping, and its streams are told") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpClientOptions options;
    options.ping_after = 50ms;
    options.ping_timeout = 1s;
    Pair pair(executor, options);
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request&) {
      connection.h2.head(id, 200);
    };
    auto response = co_await pair.client.send(request_for("/watch"), real.deadline_in(5s));
    REQUIRE(response.has_value());
    // While the pings are answered, nothing happens.
    auto quiet = co_await async::with_timeout(real, response->body->read(), 300ms);
    CHECK_FALSE(quiet.has_value());
    CHECK(pair.server.connections.front().h2.pings >= 2);
    pair.server.silent = true;
    auto told = co_await async::with_timeout(real, response->body->read(), 5s);
    REQUIRE(told.has_value());
    REQUIRE_FALSE(told->has_value());
    CHECK(told->error().text() == "the server is silent, also to a ping");
    co_await pair.stop();
  }());
}

TEST_CASE("a server that sends garbage after the handshake is a protocol failure") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    for (const std::string& instead :
         {std::string("HTTP/1.1 200 OK\r\n\r\n"), std::string(500, '\xff'), std::string("\0\0\0", 3)}) {
      Pair pair(executor);
      pair.server.instead = instead;
      const std::string answer = co_await ask(pair.client, request_for("/"), instead.size() == 3 ? 500ms : 5s);
      CAPTURE(answer);
      // Half a frame is no answer in time.
      CHECK((instead.size() == 3 ? answer.starts_with("timeout: ") : answer.starts_with("protocol: 127.0.0.1:")));
      co_await pair.stop();
    }
  }());
}

TEST_CASE("headers without end fail their request and nothing else") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      const std::string& path = request.headers.at(":path");
      if (path == "/prefix/large") connection.h2.answer(id, 200, "", {{"x", std::string(100'000, 'h')}});
      if (path == "/prefix/endless") connection.h2.answer(id, 200, "", {{"x", std::string(10U << 20, 'h')}});
      if (path == "/prefix/fine") connection.h2.answer(id, 200, "fine");
    };
    for (const char* target : {"/large", "/endless"}) {
      std::string answer = co_await ask(pair.client, request_for(target));
      CAPTURE(answer.substr(0, 200));
      const bool refused = answer.starts_with("too_large: ") || answer.starts_with("protocol: ");
      CHECK(refused);
      answer = co_await ask(pair.client, request_for("/fine"));
      CHECK(answer == "200 fine");
    }
    co_await pair.stop();
  }());
}

TEST_CASE("new credentials move new requests to a new connection") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto identity = test::self_signed();
    TlsH2Server server(executor, identity);
    std::string token;
    server.on_request = [&token](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      token = request.headers.at("authorization");
      connection.h2.answer(id, 200);
    };
    auto config = config_for(server.port(), identity.certificate_pem);
    config.token = "one";
    const auto identity_of_client = credentials(config);
    HttpClient client(executor, real, identity_of_client);
    std::string answer = co_await ask(client, request_for("/"));
    CHECK(token == "Bearer one");
    config.token = "two";
    CHECK(identity_of_client->replace(config).has_value());
    answer = co_await ask(client, request_for("/"));
    CHECK(token == "Bearer two");
    CHECK(server.accepted == 2);
    config.ca_pem = "nonsense";
    CHECK_FALSE(identity_of_client->replace(config).has_value());
    answer = co_await ask(client, request_for("/"));
    CHECK(answer == "200 ");
    co_await client.stop();
    co_await server.stop();
  }());
}

TEST_CASE("stop ends what is under way, and what comes after it fails") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    int requests = 0;
    pair.server.on_request = [&requests](Connection&, std::int32_t, const H2Server::Request&) { ++requests; };
    async::TaskGroup group(executor);
    std::string answer;
    group.spawn(ask_into(pair.client, request_for("/never"), answer));
    co_await wait_until([&] { return requests == 1; });
    co_await pair.client.stop();
    co_await group.join();
    CHECK(answer.starts_with("stopped: "));
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer.starts_with("stopped: "));
    co_await pair.server.stop();
  }());
}

// ---- HTTP/1.1 -------------------------------------------------------------------------------------------------------

namespace {

/// Says what a script has it say, over plain TCP: one answer for each request in turn. An answer that ends with
/// "<close>" ends its connection.
struct Scripted {
  async::TaskGroup group;
  asio::ip::tcp::acceptor acceptor;
  std::vector<std::string> answers;
  std::vector<std::string> requests;
  int accepted = 0;

  Scripted(const asio::any_io_executor& executor, std::vector<std::string> script)
      : group(executor, async::TaskGroup::OnFailure::keep_others),
        acceptor(executor, {asio::ip::address_v4::loopback(), 0}),
        answers(std::move(script)) {
    group.spawn(accept());
  }
  asio::awaitable<void> accept() {
    while (true) {
      RawSocket socket(co_await acceptor.async_accept(asio::use_awaitable));
      ++accepted;
      group.spawn(serve(std::move(socket)));
    }
  }
  asio::awaitable<void> serve(RawSocket socket) {
    while (true) {
      std::string request = co_await socket.read_until("\r\n\r\n");
      if (request.empty()) co_return;
      requests.push_back(std::move(request));
      if (requests.size() > answers.size()) co_return;
      std::string answer = answers[requests.size() - 1];
      const bool last = answer.ends_with("<close>");
      if (last) answer.resize(answer.size() - 7);
      co_await socket.send(answer);
      if (last) co_return;
    }
  }
  std::shared_ptr<Credentials> credentials() const {
    wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = acceptor.local_endpoint().port(), .path = ""};
    return ::credentials(std::move(config));
  }
};

}  // namespace

TEST_CASE("without HTTP/2 the same requests go over HTTP/1.1, and connections are used again") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Scripted server(executor, {"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst",
                               "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\ntransfer-encoding: "
                               "chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n",
                               "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil the end"});
    HttpClient client(executor, real, server.credentials());
    std::string answer = co_await ask(client, request_for("/1"));
    CHECK(answer == "200 first");
    answer = co_await ask(client, request_for("/2"));
    CHECK(answer == "404 second");
    answer = co_await ask(client, request_for("/3"));
    CHECK(answer == "204 ");
    CHECK(server.accepted == 1);
    CHECK(server.requests[0].starts_with("GET /1 HTTP/1.1\r\nhost: 127.0.0.1:"));
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("over HTTP/1.1 a connection that went stale is replaced, and faults are told") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Scripted server(executor,
                    {"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na", "<close>", "HTTP/1.1 200 OK\r\n\r\nb<close>",
                     "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort<close>", "garbage\r\n\r\n<close>",
                     "HTTP/1.1 200 OK\r\nx: " + std::string(10U << 20, 'h') + "\r\n\r\n<close>", "<close>"});
    HttpClient client(executor, real, server.credentials());
    const std::string where = "127.0.0.1:" + std::to_string(server.acceptor.local_endpoint().port());
    std::string answer = co_await ask(client, request_for("/1"));
    CHECK(answer == "200 a");
    answer = co_await ask(client, request_for("/2"));
    CHECK(answer == "200 b");
    CHECK(client.counters().repeats == 1);
    answer = co_await ask(client, request_for("/3"));
    CHECK(answer == "200 closed: the peer closed the connection within a body");
    answer = co_await ask(client, request_for("/4"));
    CHECK(answer.starts_with("protocol: " + where + ": HTTP/1.1: "));
    answer = co_await ask(client, request_for("/5"));
    CHECK(answer == "too_large: " + where + ": HTTP/1.1: the header is larger than 64 KiB");
    answer = co_await ask(client, request_for("/6", false, "POST"));
    CHECK(answer == "closed: " + where + ": the server closed the connection");
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("files of a kubeconfig are read again once they have changed, and not before") {
  struct StepClock final : async::Clock {
    TimePoint at = TimePoint(1h);
    TimePoint now() const override { return at; }
    WallTime wall() const override { return {}; }
    asio::awaitable<void> sleep_until(TimePoint) override { co_return; }
  } clock;
  char directory[] = "/tmp/kube-credentials-XXXXXX";
  REQUIRE(mkdtemp(directory) != nullptr);
  const std::string base = directory;
  const auto write = [&base](const std::string& name, const std::string& text) {
    const std::string next = base + "/next";
    std::ofstream(next) << text;
    REQUIRE(rename(next.c_str(), (base + "/" + name).c_str()) == 0);
  };
  const auto ca = test::self_signed("ca"), one = test::self_signed("one"), two = test::self_signed("two");
  write("token", "first\n");
  write("ca", ca.certificate_pem);
  write("cert", one.certificate_pem);
  write("key", one.key_pem);
  wire::ClusterConfig config;
  config.server.host = "h";
  config.token_file = base + "/token";
  config.ca_file = base + "/ca";
  config.client_certificate_file = base + "/cert";
  config.client_key_file = base + "/key";
  auto made = Credentials::make(config, clock);
  REQUIRE(made.has_value());
  Credentials& credentials = **made;
  CHECK(credentials.token() == "first");
  write("token", "second");
  CHECK(credentials.token() == "first");
  clock.at += 10s;
  CHECK(credentials.token() == "second");
  CHECK(credentials.generation() == 1);
  // Certificate and key of different pairs are an in-between state, which is not used.
  write("cert", two.certificate_pem);
  clock.at += 10s;
  CHECK(credentials.generation() == 1);
  write("key", two.key_pem);
  clock.at += 10s;
  CHECK(credentials.generation() == 2);
  // A file that is gone for a moment leaves what was read before.
  REQUIRE(unlink((base + "/token").c_str()) == 0);
  clock.at += 10s;
  CHECK(credentials.token() == "second");

  config.token_file = base + "/nothing";
  const auto missing = Credentials::make(config, clock);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code() == Errc::missing);
  CHECK(contains(missing.error().text(), "/nothing: No such file"));
  config.token_file.clear();
  config.exec.emplace();
  CHECK(Credentials::make(config, clock).error().code() == Errc::unsupported);
  for (const char* name : {"ca", "cert", "key"}) unlink((base + "/" + name).c_str());
  rmdir(directory);
}
