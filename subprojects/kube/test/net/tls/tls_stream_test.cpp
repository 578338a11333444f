// Bytes over TLS, both ways at once: a client and a server of this library, after an upgrade.
#include <doctest/doctest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "../http/served.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/http/http_client.hpp"
#include "support/pki.hpp"
#include "support/run.hpp"

namespace {

using namespace kube;
using namespace kube::net;
using kube::async::TaskGroup;
using kube::test::real;

/// Both ends of a stream.
struct Joined {
  explicit Joined(const asio::any_io_executor& executor)
      : client(executor, real, credentials()),
        served(executor, options(),
               [this](const ServerRequest& request, ServerResponse& response) { return take(request, response); }),
        joined(executor),
        over(executor) {}

  asio::awaitable<void> begin() {
    config.server = {.tls = true, .host = "127.0.0.1", .port = served.port, .path = ""};
    CHECK(held->replace(config));
    HttpRequest request;
    request.method = "GET";
    request.target = "/";
    request.headers = {{"upgrade", "bytes"}};
    auto upgraded = co_await client.upgrade(std::move(request), real.deadline_in(std::chrono::seconds(10)));
    REQUIRE(upgraded);
    REQUIRE(upgraded->stream);
    near = std::move(upgraded->stream);
    co_await joined.wait();
  }
  asio::awaitable<void> end() {
    near.reset();
    far.reset();
    over.set();
    co_await client.stop();
    co_await served.stop();
  }

  asio::awaitable<void> take(const ServerRequest&, ServerResponse& response) {
    auto stream = co_await response.upgrade({{"upgrade", "bytes"}});
    REQUIRE(stream);
    far = std::move(*stream);
    joined.set();
    co_await over.wait();
  }
  std::shared_ptr<Credentials> credentials() {
    config.server = {.tls = true, .host = "127.0.0.1", .port = 1, .path = ""};
    config.ca_pem = identity.certificate_pem;
    held = Credentials::make(config, real).value();
    return held;
  }
  HttpServerOptions options() const {
    HttpServerOptions options;
    options.tls = TlsContext::server(
                      {.certificate_pem = identity.certificate_pem, .key_pem = identity.key_pem, .client_ca_pem = {}})
                      .value();
    return options;
  }

  KeyAndCertificate identity = test::self_signed();
  wire::ClusterConfig config;
  std::shared_ptr<Credentials> held;
  HttpClient client;
  test::Served served;
  async::Event joined, over;
  std::unique_ptr<ByteStream> near, far;
};

/// The byte at each place of a stream, so that a loss, a repetition or another order is seen.
char byte_at(std::size_t place) { return static_cast<char>((place * 2654435761U) >> 13); }

asio::awaitable<void> send(ByteStream& stream, std::size_t total) {
  std::string piece;
  for (std::size_t sent = 0, turn = 0; sent < total; ++turn) {
    const std::size_t size = std::min(total - sent, (turn * turn * 977) % 70001 + 1);
    piece.resize(size);
    for (std::size_t i = 0; i < size; ++i) piece[i] = byte_at(sent + i);
    REQUIRE(co_await stream.write(piece));
    sent += size;
  }
}

asio::awaitable<void> receive(ByteStream& stream, std::size_t total) {
  std::string buffer;
  for (std::size_t got = 0, turn = 0; got < total; ++turn) {
    buffer.resize((turn * 7919) % 40009 + 1);
    const auto count = co_await stream.read_some(buffer);
    REQUIRE(count);
    REQUIRE(*count > 0);
    bool same = true;
    for (std::size_t i = 0; i < *count; ++i) same = same && buffer[i] == byte_at(got + i);
    REQUIRE(same);
    got += *count;
  }
}

void with_stream(asio::awaitable<void> (*script)(Joined&)) {
  test::run([](asio::awaitable<void> (*steps)(Joined&)) -> asio::awaitable<void> {
    Joined on(co_await asio::this_coro::executor);
    co_await on.begin();
    co_await steps(on);
    co_await on.end();
  }(script));
}

asio::awaitable<void> read_into(ByteStream& stream, std::string& out) {
  std::string buffer(100, '\0');
  const auto count = co_await stream.read_some(buffer);
  if (count) out += buffer.substr(0, *count);
}

asio::awaitable<void> write_once(ByteStream& stream, std::string bytes) {
  static_cast<void>(co_await stream.write(bytes));
}

asio::awaitable<void> count_turns(const bool& over, std::size_t& turns) {
  while (!over) {
    ++turns;
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
}

}  // namespace

TEST_CASE("megabytes of every size of piece pass both ways at once") {
  with_stream([](Joined& on) -> asio::awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    constexpr std::size_t total = 12 << 20;
    group.spawn(send(*on.near, total));
    group.spawn(send(*on.far, total));
    group.spawn(receive(*on.near, total));
    group.spawn(receive(*on.far, total));
    co_await group.join();
  });
}

TEST_CASE("a read brings several records where they are there") {
  with_stream([](Joined& on) -> asio::awaitable<void> {
    for (const char c : {'a', 'b', 'c'}) REQUIRE(co_await on.far->write(std::string(10, c)));
    std::string buffer(100, '\0');
    const auto count = co_await on.near->read_some(buffer);
    REQUIRE(count);
    CHECK(buffer.substr(0, *count) == "aaaaaaaaaabbbbbbbbbbcccccccccc");
  });
}

TEST_CASE("a read that is cancelled loses nothing") {
  with_stream([](Joined& on) -> asio::awaitable<void> {
    for (int round = 0; round < 20; ++round) {
      std::string got;
      TaskGroup group(co_await asio::this_coro::executor);
      group.spawn(read_into(*on.near, got));
      // In the same turn as the cancellation, and a while before it.
      REQUIRE(co_await on.far->write("some"));
      if (round % 2 == 0) co_await real.sleep(std::chrono::milliseconds(1));
      co_await group.stop();
      if (got.empty()) co_await read_into(*on.near, got);
      CHECK(got == "some");
    }
  });
}

TEST_CASE("a stream that never has to wait lets others have their turn") {
  with_stream([](Joined& on) -> asio::awaitable<void> {
    // More than the system holds, so that reads and writes have to alternate.
    constexpr std::size_t total = 32 << 20;
    TaskGroup group(co_await asio::this_coro::executor);
    bool over = false;
    std::size_t turns = 0;
    group.spawn(count_turns(over, turns));
    group.spawn(send(*on.far, total));
    co_await receive(*on.near, total);
    over = true;
    co_await group.join();
    // After eight records each at least.
    CHECK(turns > total / (16 << 10) / 8);
  });
}

TEST_CASE("the end is told from a connection that breaks off, also behind bytes") {
  with_stream([](Joined& on) -> asio::awaitable<void> {
    REQUIRE(co_await on.far->write("last words"));
    on.far->close();
    std::string buffer(100, '\0');
    CHECK((co_await on.near->read_some(buffer)).value() == 10);
    CHECK((co_await on.near->read_some(buffer)).value() == 0);
    CHECK((co_await on.near->read_some(buffer)).value() == 0);
    CHECK_FALSE((co_await on.far->write("more")).has_value());
  });
  with_stream([](Joined& on) -> asio::awaitable<void> {
    // A write that does not come to its end: nothing may be sent after it.
    TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(write_once(*on.far, std::string(64 << 20, 'x')));
    co_await real.sleep(std::chrono::milliseconds(1));
    co_await group.stop();
    on.far->close();
    std::string buffer(100'000, '\0');
    Result<std::size_t> count = 1;
    while (count && *count > 0) count = co_await on.near->read_some(buffer);
    REQUIRE_FALSE(count.has_value());
    CHECK(count.error().code() == Errc::closed);
  });
}
