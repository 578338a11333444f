// Bytes through a WebSocket, as the API server tunnels SPDY (`SPDY/3.1+portforward.k8s.io`).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/net/transport.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace kube {

namespace asio = boost::asio;

/// A stream over a stream, as the client of the WebSocket: what is written goes out as binary messages that fit into a
/// TLS record each, and where the peer's messages begin and end has no meaning. The peer's pings are answered with the
/// next write, so the user of this has to write now and then.
class WebSocketTunnel final : public net::ByteStream {
 public:
  /// `under`: the stream after the handshake. `mask` as in wire::WebSocketCodec.
  WebSocketTunnel(std::unique_ptr<net::ByteStream> under, std::function<std::uint32_t()> mask);

  /// The peer's close frame is the end, with a code other than 1000 a failure (Errc::closed). Also Errc::protocol.
  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override;
  asio::awaitable<Result<void>> write(std::string_view bytes) override;
  void close() override { under_->close(); }
  void be_patient() override { under_->be_patient(); }
  bool is_cut_off() const override { return under_->is_cut_off(); }

 private:
  void take(const wire::WebSocketSight& sight);

  std::unique_ptr<net::ByteStream> under_;
  wire::WebSocketCodec codec_;
  char* to_ = nullptr;  // of the buffer that is read into: where what comes next in a message belongs
  bool ended_ = false;
  std::optional<Failure> failure_;  // what follows what was read
};

}  // namespace kube
