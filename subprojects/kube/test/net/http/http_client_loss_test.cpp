// Connections that do not come about, break, fall silent or talk nonsense.
#include "client_pair.hpp"

namespace kube::test {

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
    co_await wait_until([&] { return pair.client.counters().by_requests.connections == 1; });
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
    CHECK(told->error().text() == "the server is silent, and answers no ping");
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

}  // namespace kube::test
