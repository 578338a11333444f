// The client as it is used: one connection for all requests, their limits and their end.
#include <array>

#include "client_pair.hpp"

namespace kube::test {

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
    CHECK(client.counters().by_requests.streams == 0);
    CHECK(client.counters().bytes_out > 2'000'000);
    co_await client.stop();
    co_await server.stop();
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
    CHECK(pair.client.counters().by_requests.streams == 0);
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

/// A server that lets three streams open on each connection: watches stay so, requests for "/never" too, others are
/// answered.
struct NarrowPair : Pair {
  explicit NarrowPair(const asio::any_io_executor& executor, HttpClientOptions options = {})
      : Pair(executor, std::move(options)) {
    server.max_streams = 3;
    server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      const std::string& path = request.headers.at(":path");
      if (path == "/prefix/watch") {
        connection.h2.head(id, 200);
      } else if (path != "/prefix/never") {
        connection.h2.answer(id, 200, "fine");
      }
    };
  }
};

TEST_CASE("watches have connections of their own, as many as they need, and leave that of requests free") {
  run([]() -> asio::awaitable<void> {
    NarrowPair pair(co_await asio::this_coro::executor, {.max_watch_connections = 3});
    std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(pair.client.counters().by_watches.connections == 0);
    std::vector<Response> watches;
    for (int i = 0; i < 9; ++i) {
      auto response = co_await pair.client.send(watch_for("/watch"), real.deadline_in(5s));
      REQUIRE(response.has_value());
      watches.push_back(std::move(*response));
    }
    CHECK(pair.server.accepted == 4);
    CHECK(pair.client.counters().by_watches.connections == 3);
    CHECK(pair.client.counters().by_watches.streams == 9);
    // One more fails at once, because there is no room, and requests do not notice.
    answer = co_await ask(pair.client, watch_for("/watch"));
    CHECK(answer.starts_with("connect: every stream of 3 connections to 127.0.0.1:"));
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 fine");
    CHECK(pair.client.counters().by_requests.connections == 1);
    CHECK(pair.server.accepted == 4);
    watches.pop_back();
    const auto next = co_await pair.client.send(watch_for("/watch"), real.deadline_in(5s));
    CHECK(next.has_value());
    watches.clear();
    co_await pair.stop();
  }());
}

TEST_CASE("a request for which no stream is free waits for one, until its deadline") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    NarrowPair pair(executor, {.max_request_connections = 1});
    async::TaskGroup group(executor);
    std::array<std::string, 3> late;
    const auto ask_late = [&](std::string& answer) -> asio::awaitable<void> {
      answer = co_await ask(pair.client, request_for("/never"), 1s);
    };
    for (std::string& answer : late) group.spawn(ask_late(answer));
    co_await wait_until([&] { return pair.client.counters().by_requests.streams == 3; });
    std::string answer = co_await ask(pair.client, request_for("/"), 50ms);
    CHECK(answer.starts_with("connect: every stream of 1 connections to 127.0.0.1:"));
    answer = co_await ask(pair.client, request_for("/"), 10s);
    CHECK(answer == "200 fine");
    co_await group.join();
    for (const std::string& each : late) CHECK(each.starts_with("timeout: "));
    // A request that waits when the client is stopped fails.
    std::string stopped;
    for (std::string& each : late) group.spawn(ask_into(pair.client, request_for("/never"), each));
    co_await wait_until([&] { return pair.client.counters().by_requests.streams == 3; });
    group.spawn(ask_into(pair.client, request_for("/"), stopped));
    co_await pair.client.stop();
    co_await group.join();
    CHECK(stopped.starts_with("stopped: "));
    CHECK(pair.server.accepted == 1);
    co_await pair.server.stop();
  }());
}

TEST_CASE("requests that wait for a stream are served in their order, and newcomers after them") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    NarrowPair pair(executor, {.max_request_connections = 1});
    pair.server.max_streams = 1;
    std::vector<std::string> asked;
    pair.server.on_request = [&asked](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      asked.push_back(request.headers.at(":path"));
      connection.h2.answer(id, 200, "fine");
    };
    async::TaskGroup group(executor);
    std::vector<std::string> answers(40), expected;
    const auto ask_now = [&](std::size_t number) {
      const std::string path = "/" + std::to_string(number);
      expected.push_back("/prefix" + path);
      group.spawn(ask_into(pair.client, request_for(path), answers[number]));
    };
    for (std::size_t number = 0; number < 20; ++number) ask_now(number);
    co_await wait_until([&] { return asked.size() >= 3; });
    for (std::size_t number = 20; number < 40; ++number) ask_now(number);
    co_await group.join();
    for (const std::string& answer : answers) CHECK(answer == "200 fine");
    CHECK(asked == expected);
    co_await pair.stop();
  }());
}

TEST_CASE("connections that are given up do not take the place of new ones") {
  run([]() -> asio::awaitable<void> {
    NarrowPair pair(co_await asio::this_coro::executor, {.max_watch_connections = 1});
    std::vector<Response> watches;
    const auto watch = [&]() -> asio::awaitable<void> {
      auto response = co_await pair.client.send(watch_for("/watch"), real.deadline_in(5s));
      REQUIRE(response.has_value());
      watches.push_back(std::move(*response));
    };
    co_await watch();
    // What is under way there goes on.
    pair.server.connections.back().h2.goaway(1);
    co_await pair.server.connections.back().flush();
    co_await watch();
    CHECK(pair.server.accepted == 2);
    watches.clear();
    co_await pair.stop();
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

}  // namespace kube::test
