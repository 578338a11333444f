#include "kube/client/websocket_tunnel.hpp"

#include <algorithm>

namespace kube {
namespace {

constexpr std::size_t read_size = 16 * std::size_t{1024};
constexpr auto normal_close = static_cast<std::uint16_t>(wire::WebSocketClose::normal);

}  // namespace

WebSocketTunnel::WebSocketTunnel(std::unique_ptr<net::ByteStream> under, std::function<std::uint32_t()> mask)
    : under_(std::move(under)), codec_(wire::WebSocketRole::client, std::move(mask)), raw_(read_size, '\0') {
  codec_.hand_to([this](const wire::WebSocketSight& sight) { take(sight); });
}

asio::awaitable<Result<std::size_t>> WebSocketTunnel::read_some(std::span<char> buffer) {
  while (read_ == inbox_.size()) {
    if (failure_) co_return std::unexpected(*failure_);
    if (ended_) co_return 0;
    inbox_.clear();
    read_ = 0;
    auto got = co_await under_->read_some(raw_);
    if (!got) co_return std::unexpected(std::move(got.error()));
    if (*got == 0) co_return 0;
    const auto fed = codec_.feed(std::string_view(raw_).substr(0, *got));
    // What came before is handed out first.
    if (!fed && !failure_) failure_ = fed.error();
  }
  const std::size_t size = std::min(buffer.size(), inbox_.size() - read_);
  std::copy_n(inbox_.begin() + static_cast<std::ptrdiff_t>(read_), size, buffer.begin());
  read_ += size;
  co_return size;
}

void WebSocketTunnel::take(const wire::WebSocketSight& sight) {
  using Kind = wire::WebSocketEvent::Kind;
  if (failure_) return;
  if (sight.kind == Kind::message) {
    if (sight.text) {
      failure_.emplace(Errc::protocol, "a text message in a tunnel of bytes");
    } else {
      inbox_ += sight.bytes;
    }
  } else if (sight.kind == Kind::close) {
    ended_ = true;
    if (sight.code == normal_close) return;
    failure_.emplace(Errc::closed, "the peer closed the tunnel with code " + std::to_string(sight.code) +
                                       (sight.bytes.empty() ? "" : ": " + std::string(sight.bytes)));
  }
}

asio::awaitable<Result<void>> WebSocketTunnel::write(std::string_view bytes) {
  if (codec_.is_closed()) co_return fail(Errc::closed, "the tunnel is closed");
  codec_.send(bytes);
  while (auto frame = codec_.next_output()) {
    auto written = co_await under_->write(*frame);
    if (!written) co_return written;
  }
  co_return Result<void>();
}

}  // namespace kube
