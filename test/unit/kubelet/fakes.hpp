// Fakes for tests of the kubelet API: API servers in a function, and an HTTP answer that is only remembered.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/transport.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/byte_pipe.hpp"

namespace liqo::test {

namespace asio = boost::asio;

/// A body in pieces; the last may be a failure.
class FakeBody final : public kube::net::Body {
 public:
  FakeBody(std::vector<std::string> pieces, std::optional<kube::Failure> failure)
      : pieces_(pieces.begin(), pieces.end()), failure_(std::move(failure)) {}
  asio::awaitable<kube::Result<std::string>> read() override {
    if (!pieces_.empty()) {
      std::string piece = std::move(pieces_.front());
      pieces_.pop_front();
      co_return piece;
    }
    if (failure_) co_return std::unexpected(*failure_);
    co_return std::string();
  }

 private:
  std::deque<std::string> pieces_;
  std::optional<kube::Failure> failure_;
};

/// The answer of a FakeTransport.
struct FakeAnswer {
  int status = 200;
  std::vector<std::string> pieces;
  std::optional<kube::Failure> failure = std::nullopt;  ///< of the body, behind the pieces
};

/// An API server: every request is remembered and answered by `answer`.
class FakeTransport final : public kube::net::Transport {
 public:
  using Answer = std::function<kube::Result<FakeAnswer>(const kube::HttpRequest&)>;
  explicit FakeTransport(Answer reply) : answer(std::move(reply)) {}

  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline) override {
    requests.push_back(request);
    if (const auto gate = held) co_await gate->wait();
    auto given = answer(request);
    if (!given) co_return std::unexpected(std::move(given.error()));
    kube::net::Response response;
    response.head.status = given->status;
    response.body = std::make_unique<FakeBody>(std::move(given->pieces), std::move(given->failure));
    co_return response;
  }

  Answer answer;
  std::vector<kube::HttpRequest> requests;
  std::shared_ptr<kube::async::Event> held;  ///< answers wait for it, if there is one
};

/// Remembers the answer of a handler.
class FakeResponse final : public kube::net::ServerResponse {
 public:
  asio::awaitable<kube::Result<void>> send(int code, Headers fields, std::string text) override {
    status = code;
    headers = std::move(fields);
    body = std::move(text);
    co_return kube::Result<void>();
  }
  asio::awaitable<kube::Result<void>> start(int code, Headers fields) override {
    status = code;
    headers = std::move(fields);
    co_return kube::Result<void>();
  }
  asio::awaitable<kube::Result<void>> write(std::string_view bytes) override {
    if (gone) co_return kube::fail(kube::Errc::closed, "the client has gone");
    writes.emplace_back(bytes);
    body += bytes;
    co_return kube::Result<void>();
  }
  asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>> upgrade(Headers fields) override {
    status = 101;
    headers = std::move(fields);
    co_return std::move(stream);
  }
  void abort() override { aborted = true; }
  bool started() const override { return status != 0; }
  bool hold(std::size_t bytes) override {
    held += bytes;
    return held <= may_hold;
  }

  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }

  int status = 0;
  Headers headers;
  std::string body;
  std::vector<std::string> writes;
  std::size_t held = 0, may_hold = 1U << 30;
  bool aborted = false;
  bool gone = false;
  std::unique_ptr<kube::net::ByteStream> stream;
};

/// An Api over a FakeTransport on virtual time.
struct FakeHome {
  explicit FakeHome(FakeTransport::Answer reply)
      : transport(std::move(reply)), api(transport, clock, random, metrics, {.cluster = "rome"}) {}
  kube::testing::Simulator simulator{1};
  kube::testing::VirtualClock& clock = simulator.clock();
  kube::Random random{1};
  kube::Metrics metrics;
  kube::Environment environment{simulator.executor(), clock, random, metrics};
  FakeTransport transport;
  kube::Api api;
};

}  // namespace liqo::test
