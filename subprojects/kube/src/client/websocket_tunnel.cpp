#include "kube/client/websocket_tunnel.hpp"
#include "kube/base/printable.hpp"

#include <cstring>

namespace kube {
namespace {

// A message and its head fill one record of TLS. The codec copies what is written, so messages are small.
constexpr std::size_t max_message = 16 * std::size_t{1024} - 16;
constexpr auto normal_close = static_cast<std::uint16_t>(wire::WebSocketClose::normal);

}  // namespace

WebSocketTunnel::WebSocketTunnel(std::unique_ptr<net::ByteStream> under, std::function<std::uint32_t()> mask)
    : under_(std::move(under)), codec_(wire::WebSocketRole::client, std::move(mask)) {
  codec_.hand_to([this](const wire::WebSocketSight& sight) { take(sight); });
}

// What comes is read into the reader's buffer, and what of it belongs to messages moves to its front: nothing is held
// here.
asio::awaitable<Result<std::size_t>> WebSocketTunnel::read_some(std::span<char> buffer) {
  while (true) {
    if (failure_) co_return std::unexpected(*failure_);
    if (ended_) co_return 0;
    auto got = co_await under_->read_some(buffer);
    if (!got || *got == 0) co_return got;
    to_ = buffer.data();
    const auto fed = codec_.feed({buffer.data(), *got});
    // What came before is handed out first.
    if (!fed && !failure_) failure_ = fed.error();
    if (to_ != buffer.data()) co_return static_cast<std::size_t>(to_ - buffer.data());
  }
}

void WebSocketTunnel::take(const wire::WebSocketSight& sight) {
  using Kind = wire::WebSocketEvent::Kind;
  if (failure_) return;
  if (sight.kind == Kind::message) {
    if (sight.text) {
      failure_.emplace(Errc::protocol, "a text message in a tunnel of bytes");
    } else {
      std::memmove(to_, sight.bytes.data(), sight.bytes.size());
      to_ += sight.bytes.size();
    }
  } else if (sight.kind == Kind::close) {
    ended_ = true;
    if (sight.code == normal_close) return;
    failure_.emplace(Errc::closed, "the peer closed the tunnel with code " + std::to_string(sight.code) +
                                       (sight.bytes.empty() ? "" : ": " + printable(sight.bytes)));
  }
}

asio::awaitable<Result<void>> WebSocketTunnel::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (codec_.is_closed()) co_return fail(Errc::closed, "the tunnel is closed");
    const std::string_view piece = bytes.substr(0, max_message);
    bytes.remove_prefix(piece.size());
    codec_.send(piece);
    while (auto frame = codec_.next_output()) {
      KUBE_CO_TRYV(co_await under_->write(*frame));
    }
  }
  co_return Result<void>();
}

}  // namespace kube
