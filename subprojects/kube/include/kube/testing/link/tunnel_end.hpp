// The other end of a tunnel through a WebSocket, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kube/net/transport.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace kube::testing {

namespace asio = boost::asio;

/// The server's end of a `WebSocketTunnel`: each write is a message, and what is read are the bytes of the peer's.
class TunnelEnd final : public net::ByteStream {
 public:
  explicit TunnelEnd(std::unique_ptr<net::ByteStream> under)
      : under_(std::move(under)), codec_(wire::WebSocketRole::server, {}) {
    codec_.hand_to([this](const wire::WebSocketSight& sight) {
      if (sight.kind == wire::WebSocketEvent::Kind::message) inbox_ += sight.bytes;
    });
  }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    while (inbox_.empty()) {
      auto got = co_await under_->read_some(buffer);
      if (!got || *got == 0) co_return got;
      KUBE_CO_TRYV(codec_.feed({buffer.data(), *got}));
    }
    const std::size_t size = std::min(buffer.size(), inbox_.size());
    std::copy_n(inbox_.begin(), size, buffer.begin());
    inbox_.erase(0, size);
    co_return size;
  }
  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    codec_.send(bytes);
    while (auto frame = codec_.next_output()) {
      KUBE_CO_TRYV(co_await under_->write(*frame));
    }
    co_return Result<void>();
  }
  void close() override { under_->close(); }

 private:
  std::unique_ptr<net::ByteStream> under_;
  wire::WebSocketCodec codec_;
  std::string inbox_;
};

}  // namespace kube::testing
