// The channels of exec and attach over one connection, whatever protocol carries them: one interface over SPDY/3.1 and
// the WebSocket protocols, for the side that asks for the command and for the side that runs it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/wire/remote_command.hpp"

namespace kube::wire {

/// The client asks for a command and writes `in` and `resize`; the server runs it and writes `out`, `err`, `error`.
enum class CommandRole : std::uint8_t { client, server };

/// Whether the side of that role hears anything on a channel; the other channels are its own to write.
constexpr bool may_hear(CommandRole role, CommandChannel channel) {
  const bool is_clients = channel == CommandChannel::in || channel == CommandChannel::resize;
  return is_clients == (role == CommandRole::server);
}

/// Something that the peer did.
struct CommandEvent {
  enum class Kind : std::uint8_t {
    ready,    ///< every channel is open: data may be written
    data,     ///< `bytes` on `channel`
    end,      ///< the peer will send no more on `channel`
    refused,  ///< the peer refused `channel` (client over SPDY only)
    pong,     ///< the peer has answered one more ping, so it has read everything that was sent before that
    closed    ///< the peer is done with the whole session; channels that have not ended end here
  };
  Kind kind;
  CommandChannel channel = CommandChannel::error;
  std::string bytes;
};

/// A state machine between bytes and channels.
class CommandCodec {
 public:
  virtual ~CommandCodec() = default;

  /// Queues what must be sent before anything is read. Call once.
  virtual void start() = 0;
  /// Takes bytes of the peer, cut anywhere. Errors: Errc::protocol, Errc::too_large, with a farewell in the output.
  virtual Result<void> feed(std::string_view bytes) = 0;
  /// The next thing that the peer has done; nothing until more is fed.
  virtual std::optional<CommandEvent> next() = 0;
  /// From now on feed() hands data to `sink`, if possible as a view of the fed bytes, and makes no events of it. An
  /// event that was fed before such data is fetched after it.
  using DataSink = std::function<void(CommandChannel channel, std::string_view bytes)>;
  virtual void hand_data_to(DataSink sink) = 0;

  /// The next frame to send, in one write.
  virtual std::optional<std::string> next_output() = 0;
  virtual std::size_t pending_output() const = 0;

  /// Queues data. False if the channel takes none any more.
  virtual bool write(CommandChannel channel, std::string_view bytes) = 0;
  /// Sends the peer the end of a channel: nothing more will be written on it. Does nothing if the protocol has no such
  /// end (see can_finish).
  virtual void finish(CommandChannel channel) = 0;
  /// True if the protocol can end one channel while the others go on.
  virtual bool can_finish() const = 0;
  /// Asks the peer for a pong.
  virtual void ping() = 0;
  /// Says goodbye: nothing can be written after it. What was queued before is sent before.
  virtual void close() = 0;

  virtual CommandVersion version() const = 0;
};

/// SPDY/3.1. A server expects the channels of `streams`; a client opens them one after the other.
std::unique_ptr<CommandCodec> make_spdy_command(CommandRole role, CommandVersion version, CommandStreams streams);

/// A subprotocol of WebSocket: version, and whether messages are text with base64.
struct WebSocketCommandProtocol {
  CommandVersion version = CommandVersion::v1;
  bool base64 = false;
};
/// Reads a name of Sec-WebSocket-Protocol: "", channel.k8s.io, v4.channel.k8s.io, v5.channel.k8s.io,
/// base64.channel.k8s.io, v4.base64.channel.k8s.io.
std::optional<WebSocketCommandProtocol> websocket_command_protocol(std::string_view name);

/// WebSocket. `mask` as in WebSocketCodec. A client's v5 sends {255, channel} for the end of a channel, and a server's
/// takes it; the older ones have no half-close.
std::unique_ptr<CommandCodec> make_websocket_command(CommandRole role, WebSocketCommandProtocol protocol,
                                                     CommandStreams streams, std::function<std::uint32_t()> mask);

}  // namespace kube::wire
