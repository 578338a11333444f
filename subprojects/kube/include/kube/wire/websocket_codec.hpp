// WebSocket frames (RFC 6455) as a state machine, for either role, and the two values of its handshake.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace kube::wire {

enum class WebSocketRole : std::uint8_t { client, server };

/// What Sec-WebSocket-Accept must be for a Sec-WebSocket-Key (RFC 6455 section 4.2.2).
std::string websocket_accept(std::string_view key);
/// True if the text is the base64 of 16 bytes, as Sec-WebSocket-Key must be.
bool is_websocket_key(std::string_view key);

/// Close codes (RFC 6455 section 7.4.1).
enum class WebSocketClose : std::uint16_t {
  normal = 1000,
  protocol_error = 1002,
  too_big = 1009,
  internal_error = 1011
};

/// Something that the peer did.
struct WebSocketEvent {
  enum class Kind : std::uint8_t {
    message,  ///< a piece of a message: `bytes`, `first`, `last`, `text`
    pong,     ///< an answer to a ping
    close     ///< the peer sends nothing more; `code` (1005 if it gave none) and its reason in `bytes`
  };
  Kind kind;
  std::string bytes;
  bool first = false;
  bool last = false;
  bool text = false;
  std::uint16_t code = 0;
};

/// A WebSocketEvent as feed() meets it: `bytes` are valid during the call alone.
struct WebSocketSight {
  WebSocketEvent::Kind kind;
  std::string_view bytes;
  bool first = false;
  bool last = false;
  bool text = false;
  std::uint16_t code = 0;
};

/// Messages are handed on in pieces as they arrive, so that a long one costs no memory; they are sent unfragmented,
/// because the Go servers of Kubernetes take every frame for a message. Pings and close frames of the peer are
/// answered. Text is not checked for UTF-8: the protocols above carry base64 or JSON. A breach of the protocol makes
/// feed() fail from then on and leaves a close frame in the output.
class WebSocketCodec {
 public:
  /// `mask`: unpredictable 32-bit numbers for the client's frames (RFC 6455 section 5.3); unused by a server.
  /// `max_message`: the most bytes of one message of the peer.
  WebSocketCodec(WebSocketRole role, std::function<std::uint32_t()> mask, std::uint64_t max_message = 32 << 20);

  /// Takes bytes of the peer, cut anywhere. Errors: Errc::protocol, Errc::too_large.
  Result<void> feed(std::string_view bytes);
  std::optional<WebSocketEvent> next();
  /// From now on feed() hands everything to `sink`, and next() has no events.
  void hand_to(std::function<void(const WebSocketSight&)> sink) { sink_ = std::move(sink); }

  /// The next frame to send; pings and pongs overtake the rest.
  std::optional<std::string> next_output();
  /// Bytes of frames that nobody has fetched yet.
  std::size_t pending_output() const { return pending_; }

  void send(std::string_view message, bool text = false) { send_parts(message, {}, text); }
  /// One message of two parts.
  void send_parts(std::string_view first, std::string_view second, bool text = false);
  void ping(std::string_view payload = {});
  /// Sends a close frame; nothing can be sent after it. A second call does nothing.
  void close(WebSocketClose code, std::string_view reason = {});
  bool is_closed() const { return closed_; }

 private:
  Result<void> consume(std::string_view& bytes);
  Result<void> start_frame();
  Result<void> control_ended();
  void piece(std::string_view bytes, bool last);
  void emit(const WebSocketSight& sight);
  std::string frame(std::uint8_t opcode, std::string_view first, std::string_view second = {});

  WebSocketRole role_;
  std::function<std::uint32_t()> mask_source_;
  std::uint64_t max_message_;

  std::string head_;           // of the frame being read
  std::size_t head_size_ = 2;  // how long it will be, as far as known
  std::uint64_t missing_ = 0;  // payload bytes to come
  std::uint32_t mask_ = 0;
  std::size_t mask_offset_ = 0;
  std::string payload_;  // of a control frame
  bool in_payload_ = false;
  bool in_message_ = false;  // between the first and the last frame of a message
  bool first_piece_ = false;
  bool text_ = false;
  std::uint64_t message_size_ = 0;

  std::optional<Failure> failure_;
  std::function<void(const WebSocketSight&)> sink_;
  std::deque<WebSocketEvent> events_;
  std::deque<std::string> output_;
  std::deque<std::string> urgent_;
  std::size_t pending_ = 0;
  bool closed_ = false;
  bool peer_closed_ = false;
};

}  // namespace kube::wire
