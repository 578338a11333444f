// The client against servers without HTTP/2.
#include "client_pair.hpp"

namespace kube::test {

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
    HttpClient client(executor, real, server.credentials(), {.request_connections = 2});
    auto one = co_await client.send(request_for("/1"), real.deadline_in(5s));
    auto two = co_await client.send(request_for("/2"), real.deadline_in(5s));
    REQUIRE(one.has_value());
    REQUIRE(two.has_value());
    std::string answer = co_await ask(client, request_for("/3"), 50ms);
    CHECK(answer.starts_with("connect: all 2 connections to 127.0.0.1:"));
    CHECK(server.accepted == 2);
    // Who lets go of a body, read or not, makes room.
    one->body.reset();
    const auto four = co_await client.send(request_for("/4"), real.deadline_in(5s));
    CHECK(four.has_value());
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

}  // namespace kube::test
