// A client of this library and a server to turn against it, on one loop.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "kube/async/timeout.hpp"
#include "kube/net/http/http_client.hpp"
#include "support/run.hpp"
#include "support/tls_h2_server.hpp"

namespace kube::test {

using namespace kube::net;
using namespace std::chrono_literals;
using Connection = TlsH2Server::Connection;

inline async::RealClock real;

inline wire::ClusterConfig config_for(std::uint16_t port, const std::string& ca_pem, std::string host = "127.0.0.1") {
  wire::ClusterConfig config;
  config.server = {.tls = true, .host = std::move(host), .port = port, .path = "/prefix"};
  config.cluster = "test";
  config.ca_pem = ca_pem;
  return config;
}
inline std::shared_ptr<Credentials> credentials(wire::ClusterConfig config) {
  auto made = Credentials::make(std::move(config), real);
  REQUIRE(made.has_value());
  return *made;
}

inline HttpRequest request_for(std::string target, bool repeatable = true, std::string method = "GET") {
  HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.repeatable = repeatable;
  return request;
}

inline HttpRequest watch_for(std::string target) {
  HttpRequest watch = request_for(std::move(target));
  watch.open_ended = true;
  return watch;
}

inline asio::awaitable<Result<std::string>> read_all(Body& body) {
  std::string text;
  while (true) {
    auto chunk = co_await body.read();
    if (!chunk) co_return chunk;
    if (chunk->empty()) co_return text;
    text += *chunk;
  }
}

/// The answer as "status body", a failure as "code: text".
inline asio::awaitable<std::string> ask(Transport& client, HttpRequest request, Duration limit = 5s) {
  auto response = co_await client.send(std::move(request), real.deadline_in(limit));
  if (!response) co_return std::string(to_string(response.error().code())) + ": " + response.error().text();
  auto body = co_await read_all(*response->body);
  if (!body)
    co_return std::to_string(response->head.status) + " " + std::string(to_string(body.error().code())) + ": " +
        body.error().text();
  co_return std::to_string(response->head.status) + " " + *body;
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

inline asio::awaitable<void> wait_until(std::function<bool()> condition) {
  const auto limit = real.now() + 10s;
  while (!condition() && real.now() < limit) co_await real.sleep(1ms);
  CHECK(condition());
}

/// A server, a client of it, and the end of both.
struct Pair {
  KeyAndCertificate identity = self_signed();
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

inline asio::awaitable<void> ask_into(Transport& client, HttpRequest request, std::string& answer) {
  answer = co_await ask(client, std::move(request));
}

}  // namespace kube::test
