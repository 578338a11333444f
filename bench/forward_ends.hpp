// The two ends of a port-forward for stream_pump, which behave like Go's programs.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "kube/net/transport.hpp"
#include "kube/wire/spdy_session.hpp"

namespace liqo::bench {

namespace asio = boost::asio;

inline constexpr std::uint64_t without_end = std::numeric_limits<std::uint64_t>::max();

/// One end, which does one thing after the other.
class ForwardEnd {
 public:
  ForwardEnd(std::unique_ptr<kube::net::ByteStream> stream, kube::wire::SpdyRole role)
      : stream_(std::move(stream)), session_(role) {}

  /// Opens the two streams of one connection, as a caller.
  asio::awaitable<bool> open() {
    const auto error = session_.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}});
    if (!co_await flush() || !co_await read_until([this] { return replies_ == 1; })) co_return false;
    session_.finish(error.value());
    data_ = session_.open({{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}}).value();
    co_return co_await flush() && co_await read_until([this] { return replies_ == 2; });
  }
  /// Accepts the two streams, as a provider.
  asio::awaitable<bool> accept() {
    return read_until([this] { return opened_ == 2; });
  }
  /// Writes `count` bytes, and the end of the stream.
  asio::awaitable<void> pour(std::string_view piece, std::uint64_t count) {
    for (std::uint64_t sent = 0; sent < count; sent += piece.size()) {
      session_.write(data_, piece);
      if (!co_await flush()) co_return;
    }
    session_.finish(data_);
    static_cast<void>(co_await flush());
  }
  /// Reads up to the end of the stream.
  asio::awaitable<void> drain() {
    static_cast<void>(co_await read_until([this] { return finished_; }));
  }
  /// Closes the session. A provider waits for its caller to close, because a program in between may not notice which
  /// end does.
  asio::awaitable<void> leave(bool waits) {
    session_.close();
    static_cast<void>(co_await flush());
    if (waits) static_cast<void>(co_await read_until([] { return false; }));
    stream_->close();
  }

 private:
  asio::awaitable<bool> flush() {
    while (auto frame = session_.next_output())
      if (!co_await stream_->write(*frame)) co_return false;
    co_return true;
  }
  template <class Holds>
  asio::awaitable<bool> read_until(Holds holds) {
    std::string buffer(32U << 10, '\0');
    while (!holds()) {
      const auto got = co_await stream_->read_some(buffer);
      if (!got || *got == 0) co_return false;
      if (!session_.feed(std::string_view(buffer).substr(0, *got))) co_return false;
      while (auto event = session_.next()) take(*event);
      if (!co_await flush()) co_return false;
    }
    co_return true;
  }
  void take(const kube::wire::SpdyEvent& event) {
    using Kind = kube::wire::SpdyEvent::Kind;
    if (event.kind == Kind::replied) ++replies_;
    if (event.kind == Kind::finished && event.stream == data_) finished_ = true;
    if (event.kind != Kind::opened) return;
    session_.reply(event.stream);
    data_ = event.stream;
    finished_ = false;
    ++opened_;
  }

  std::unique_ptr<kube::net::ByteStream> stream_;
  kube::wire::SpdySession session_;
  std::uint32_t data_ = 0;
  int replies_ = 0, opened_ = 0;
  bool finished_ = false;
};

}  // namespace liqo::bench
