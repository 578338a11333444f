// The client against servers without HTTP/2.
#include "client_pair.hpp"
#include "kube/net/http/http_server.hpp"

namespace kube::test {

namespace {

/// Sends the answers of a script over plain TCP, one for each request in turn. An answer that ends with "<close>" ends
/// its connection.
struct Scripted {
  async::TaskGroup group;
  asio::ip::tcp::acceptor acceptor;
  std::vector<std::string> answers;
  std::vector<std::string> requests;
  RawSocket* last = nullptr;  ///< the connection that was accepted last, while it is open
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
    last = &socket;
    while (true) {
      std::string request = co_await socket.read_until("\r\n\r\n");
      if (request.empty()) co_return;
      requests.push_back(std::move(request));
      if (requests.size() > answers.size()) co_return;
      std::string answer = answers[requests.size() - 1];
      const bool closes = answer.ends_with("<close>");
      if (closes) answer.resize(answer.size() - 7);
      co_await socket.send(answer);
      if (closes) co_return;
    }
  }
  std::shared_ptr<Credentials> credentials() const {
    wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = acceptor.local_endpoint().port(), .path = ""};
    return test::credentials(std::move(config));
  }
};

/// Answers each request with the same beginning, and with something every few milliseconds until its peer has gone.
struct Endless {
  async::TaskGroup group;
  asio::ip::tcp::acceptor acceptor;
  std::string begin, again;

  Endless(const asio::any_io_executor& executor, std::string first, std::string more)
      : group(executor, async::TaskGroup::OnFailure::keep_others),
        acceptor(executor, {asio::ip::address_v4::loopback(), 0}),
        begin(std::move(first)),
        again(std::move(more)) {
    group.spawn(serve());
  }
  asio::awaitable<void> serve() {
    RawSocket socket(co_await acceptor.async_accept(asio::use_awaitable));
    static_cast<void>(co_await socket.read_until("\r\n\r\n"));
    co_await socket.send(begin);
    while (!again.empty()) {
      co_await socket.send(again);
      co_await real.sleep(2ms);
    }
    co_await socket.read_all();
  }
  std::shared_ptr<Credentials> credentials() const {
    wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = acceptor.local_endpoint().port(), .path = ""};
    return test::credentials(std::move(config));
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

TEST_CASE("over HTTP/1.1 the connections of a client are bounded, busy ones too") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const std::string endless = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin";
    Scripted server(executor, {endless, endless, endless});
    HttpClient client(executor, real, server.credentials(), {.max_request_connections = 2});
    auto one = co_await client.send(request_for("/1"), real.deadline_in(5s));
    auto two = co_await client.send(request_for("/2"), real.deadline_in(5s));
    REQUIRE(one.has_value());
    REQUIRE(two.has_value());
    std::string answer = co_await ask(client, request_for("/3"), 50ms);
    CHECK(answer.starts_with("connect: all 2 connections to 127.0.0.1:"));
    CHECK(server.accepted == 2);
    // Letting go of a body, read or not, makes room.
    one->body.reset();
    const auto four = co_await client.send(request_for("/4"), real.deadline_in(5s));
    CHECK(four.has_value());
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("over HTTP/1.1 new credentials have a connection of their own, also where the old one is busy") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const std::string answered = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    Scripted server(executor, {answered, answered, answered, answered});
    const auto credentials = server.credentials();
    HttpClient client(executor, real, credentials);
    auto busy = co_await client.send(request_for("/1"), real.deadline_in(5s));
    REQUIRE(busy.has_value());
    CHECK(credentials->replace(credentials->config()).has_value());
    std::string answer = co_await ask(client, request_for("/2"));
    CHECK(answer == "200 ok");
    CHECK(server.accepted == 2);
    // The old connection is read to its end, and not used again.
    for (bool is_over = false; !is_over;) {
      const auto chunk = co_await busy->body->read();
      REQUIRE(chunk.has_value());
      is_over = chunk->empty();
    }
    auto third = co_await client.send(request_for("/3"), real.deadline_in(5s));
    CHECK(third.has_value());
    CHECK(server.accepted == 2);
    answer = co_await ask(client, request_for("/4"));
    CHECK(answer == "200 ok");
    CHECK(server.accepted == 3);
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("over HTTP/1.1 a server that has gone is dialed once for a while, whoever asks") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Scripted server(executor, {"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst<close>"});
    HttpClient client(executor, real, server.credentials(), {.first_backoff = 1h, .max_backoff = 1h});
    const std::string answer = co_await ask(client, request_for("/1"));
    CHECK(answer == "200 first");
    server.acceptor.close();
    for (int i = 0; i < 5; ++i) {
      const std::string refused = co_await ask(client, request_for("/2"));
      CHECK(refused.starts_with("connect: "));
    }
    CHECK(client.counters().connect_failures == 1);
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("over HTTP/1.1 nothing is sent on a connection that the server has closed while it was idle") {
  const KeyAndCertificate identity = self_signed();
  const auto server_tls = TlsContext::server(
      {.certificate_pem = identity.certificate_pem, .key_pem = identity.key_pem, .client_ca_pem = {}});
  REQUIRE(server_tls.has_value());
  run([&]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    for (const bool with_tls : {false, true}) {
      CAPTURE(with_tls);
      HttpServer server(
          executor, real,
          {.address = "127.0.0.1", .tls = with_tls ? std::optional(*server_tls) : std::nullopt, .idle_timeout = 100ms},
          [](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
            static_cast<void>(co_await response.send(200, {}, "ok"));
          });
      const auto port = server.listen();
      REQUIRE(port.has_value());
      async::TaskGroup group(executor);
      group.spawn(server.serve());
      wire::ClusterConfig config = config_for(*port, identity.certificate_pem);
      config.server.tls = with_tls;
      HttpClient client(executor, real, credentials(std::move(config)));
      // One that the server waits on is used again, whatever TLS has to say besides.
      for (int i = 0; i < 3; ++i) {
        const std::string answer = co_await ask(client, request_for("/", false, "POST"));
        CHECK(answer == "200 ok");
      }
      CHECK(client.counters().connects == 1);
      co_await wait_until([&] { return server.counters().connections == 0; });
      const std::string answer = co_await ask(client, request_for("/", false, "POST"));
      CHECK(answer == "200 ok");
      CHECK(client.counters().connects == 2);
      CHECK(client.counters().repeats == 0);
      co_await client.stop();
      co_await server.stop(1s);
      co_await group.join();
    }
  }());
}

TEST_CASE("over HTTP/1.1 a connection on which the server has said something unasked is not used again") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Scripted server(executor, {"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst",
                               "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond"});
    HttpClient client(executor, real, server.credentials());
    std::string answer = co_await ask(client, request_for("/1"));
    CHECK(answer == "200 first");
    REQUIRE(server.last != nullptr);
    co_await server.last->send("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
    answer = co_await ask(client, request_for("/2", false, "POST"));
    CHECK(answer == "200 second");
    CHECK(server.accepted == 2);
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

TEST_CASE("over HTTP/1.1 what stands between the chunks of a body and behind them is bounded") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const std::string chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const std::string much(10U << 20, 'h');
    Scripted server(executor, {chunked + "1;" + much, chunked + "1\r\na\r\n1;" + much, chunked + "0\r\nx: " + much,
                               chunked + "1;" + std::string(1000, 'h') + "\r\na\r\n0\r\nx: y\r\n\r\n"});
    HttpClient client(executor, real, server.credentials());
    for (int i = 0; i < 3; ++i) {
      // The line never ends, and the connection stays.
      const std::string answer = co_await ask(client, request_for("/endless"));
      CHECK(answer == "200 too_large: HTTP/1.1: the head of a chunk or the trailer is larger than 64 KiB");
    }
    const std::string answer = co_await ask(client, request_for("/fine"));
    CHECK(answer == "200 a");
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("an answer to an upgrade that is cut at whatever byte is a failure, and a refusal keeps what came") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const std::string granted = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n";
    const std::string refused = "HTTP/1.1 403 Forbidden\r\ncontent-length: 8\r\n\r\n";
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < granted.size(); ++i) answers.push_back(granted.substr(0, i) + "<close>");
    for (std::size_t i = 0; i < 8; ++i) answers.push_back(refused + std::string(i, 'w') + "<close>");
    answers.push_back(granted + "<close>");
    const std::size_t count = answers.size();
    Scripted server(executor, std::move(answers));
    HttpClient client(executor, real, server.credentials());
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(i);
      const auto answer = co_await client.upgrade(request_for("/exec"), real.deadline_in(5s));
      CHECK(answer.has_value() == (i >= granted.size()));
      if (!answer) CHECK(answer.error().code() == Errc::closed);
      if (!answer) continue;
      CHECK((answer->stream != nullptr) == (i + 1 == count));
      if (!answer->stream) CHECK(answer->refusal == std::string(i - granted.size(), 'w'));
    }
    co_await client.stop();
    co_await server.group.stop();
  }());
}

TEST_CASE("an answer to an upgrade that does not come to its end is given up in time, and a huge one is cut") {
  struct Case {
    const char* title;
    std::string begin;
    std::string again;  // without an end
    bool is_refusal;
  };
  const std::string refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 99999999999\r\n\r\n";
  const Case cases[] = {
      {"silence", "", "", false},
      {"half a header, then silence", "HTTP/1.1 101 Switching Proto", "", false},
      {"a header byte by byte", "HTTP/1.1 101 Switching Protocols\r\nx: ", "a", false},
      {"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n", false},
      {"a refusal byte by byte", refusal, "w", true},
      {"a refusal of a hundred gigabytes", refusal, std::string(1U << 20, 'w'), true},
  };
  run([&cases]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    for (const Case& test : cases) {
      CAPTURE(test.title);
      Endless server(executor, test.begin, test.again);
      HttpClient client(executor, real, server.credentials());
      const auto began = real.now();
      const auto answer = co_await client.upgrade(request_for("/exec"), real.deadline_in(200ms));
      CHECK(real.now() - began < 2s);
      CHECK(answer.has_value() == test.is_refusal);
      if (!answer) CHECK(answer.error().code() == Errc::timeout);
      if (answer) CHECK(answer->refusal.size() <= 64U << 10);
      co_await client.stop();
      co_await server.group.stop();
    }
  }());
}

}  // namespace kube::test
