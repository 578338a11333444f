// A server on its loop, and a client that sends it exact bytes.
#pragma once

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/net/http/http_server.hpp"
#include "support/raw_socket.hpp"

namespace kube::test {

using namespace std::chrono_literals;

inline async::RealClock real;

/// A server with its serve() task, on 127.0.0.1.
struct Served {
  async::TaskGroup tasks;
  net::HttpServer server;
  std::uint16_t port = 0;

  Served(const asio::any_io_executor& executor, net::HttpServerOptions options, net::HttpHandler handler)
      : tasks(executor, async::TaskGroup::OnFailure::keep_others),
        server(executor, real, local(std::move(options)), std::move(handler)) {
    auto opened = server.listen();
    REQUIRE(opened.has_value());
    port = *opened;
    tasks.spawn(server.serve());
  }
  static net::HttpServerOptions local(net::HttpServerOptions options) {
    options.address = "127.0.0.1";
    return options;
  }
  asio::awaitable<void> stop() {
    co_await server.stop(1s);
    co_await tasks.stop();
  }
};

/// Sends bytes and reads until the server closes.
inline asio::awaitable<std::string> talk(std::uint16_t port, std::string bytes) {
  RawSocket socket(co_await asio::this_coro::executor);
  co_await socket.connect(port);
  co_await socket.send(bytes);
  co_return co_await socket.read_all();
}

}  // namespace kube::test
