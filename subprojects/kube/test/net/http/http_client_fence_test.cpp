// Requests that only a leader may send: what becomes of those that are under way when it leads no longer.
#include "client_pair.hpp"
#include "support/raw_socket.hpp"

namespace kube::test {

namespace {

HttpRequest fenced(const bool& may_send, std::string body = {}) {
  HttpRequest request = request_for("/write", false, "POST");
  request.body = std::move(body);
  request.may_send = [&may_send] { return may_send; };
  return request;
}

/// A server that answers only what is no write.
struct Hanging : Pair {
  explicit Hanging(const asio::any_io_executor& executor) : Pair(executor) {
    server.on_request = [this](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      if (request.headers.at(":path") != "/prefix/write") {
        connection.h2.answer(id, 200, "answer to " + request.headers.at(":path"));
      } else {
        last_write = &connection;
        ++writes;
      }
    };
  }
  Connection* last_write = nullptr;
  int writes = 0;
};

}  // namespace

TEST_CASE("what is under way when the fence falls is given up with its connection, and the others go on") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Hanging pair(executor);
    const auto watch = co_await pair.client.send(watch_for("/watch"), real.deadline_in(5s));
    CHECK(watch.has_value());
    std::string answer = co_await ask(pair.client, request_for("/read"));
    CHECK(answer == "200 answer to /prefix/read");
    CHECK(pair.server.accepted == 2);
    bool may_send = true;
    std::string written;
    async::TaskGroup group(executor);
    group.spawn(ask_into(pair.client, fenced(may_send), written));
    co_await wait_until([&] { return pair.writes == 1; });
    CHECK(pair.server.accepted == 3);
    // As long as the fence stands, nothing happens to it.
    co_await real.sleep(250ms);
    CHECK(written == "");
    may_send = false;
    co_await group.join();
    CHECK(written.starts_with("stopped: 127.0.0.1:"));
    CHECK(contains(written, "this process may no longer write"));
    co_await wait_until([&] { return bool(pair.last_write->end); });
    CHECK(pair.last_write->end == asio::error::connection_reset);
    answer = co_await ask(pair.client, request_for("/read"));
    CHECK(answer == "200 answer to /prefix/read");
    CHECK(pair.server.accepted == 3);
    co_await pair.stop();
  }());
}

TEST_CASE("a write that nobody waits for any more takes its connection along") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Hanging pair(executor);
    const bool may_send = true;
    std::string answer = co_await ask(pair.client, fenced(may_send), 500ms);
    CHECK(answer.starts_with("timeout: "));
    co_await wait_until([&] { return pair.writes == 1 && bool(pair.last_write->end); });
    CHECK(pair.last_write->end == asio::error::connection_reset);
    // A cancellation is no other.
    async::TaskGroup group(executor);
    group.spawn(ask_into(pair.client, fenced(may_send), answer));
    co_await wait_until([&] { return pair.writes == 2; });
    co_await group.stop();
    co_await wait_until([&] { return bool(pair.last_write->end); });
    CHECK(pair.server.accepted == 2);
    co_await pair.stop();
  }());
}

TEST_CASE("over HTTP/1.1 what has not left when the fence falls never does") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    asio::ip::tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), 0});
    wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = acceptor.local_endpoint().port(), .path = ""};
    HttpClient client(executor, real, credentials(std::move(config)));
    bool may_send = true;
    std::string written;
    // More than the kernels of both sides hold while the server does not read.
    const std::string body(64U << 20, 'b');
    async::TaskGroup group(executor);
    group.spawn(ask_into(client, fenced(may_send, body), written));
    RawSocket socket(co_await acceptor.async_accept(asio::use_awaitable));
    co_await wait_until([&] { return socket.socket().available() > 0; });
    may_send = false;
    co_await group.join();
    CHECK(written.starts_with("stopped: 127.0.0.1:"));
    const std::string come = co_await socket.read_all();
    CHECK(come.size() < body.size());
    co_await client.stop();
  }());
}

}  // namespace kube::test
