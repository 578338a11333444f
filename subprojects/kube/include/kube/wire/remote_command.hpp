// The protocol of exec and attach, whatever carries it: protocol names and their negotiation, channels, terminal sizes
// and the result (KEP-4006, k8s.io/apimachinery remotecommand).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/base/status.hpp"

namespace kube::wire {

/// The five conversations of a remote command; the values are the channel numbers of WebSocket.
enum class CommandChannel : std::uint8_t { in = 0, out = 1, err = 2, error = 3, resize = 4 };
inline constexpr std::size_t command_channel_count = 5;
/// The number of WebSocket v5's message {255, channel}: "I will send no more on this channel".
inline constexpr std::uint8_t close_channel = 255;

/// "stdin", "stdout", "stderr", "error" or "resize": the header streamType of SPDY.
std::string_view to_string(CommandChannel channel);
/// The channel of that name; nothing for any other text.
std::optional<CommandChannel> command_channel(std::string_view stream_type);

/// Which channels one session has. The channel `error` is always there.
struct CommandStreams {
  bool in = false;
  bool out = false;
  bool err = false;
  bool tty = false;
  bool has(CommandChannel channel) const;
};

/// Versions of the protocol, from `channel.k8s.io` to `v5.channel.k8s.io`.
enum class CommandVersion : std::uint8_t { v1 = 1, v2, v3, v4, v5 };
/// The name of a version, e.g. "v4.channel.k8s.io"; of v1 "channel.k8s.io".
std::string_view to_string(CommandVersion version);
/// The version of that name; nothing for any other text.
std::optional<CommandVersion> command_version(std::string_view name);
/// From v4 on the result is a Status document, before it is text.
inline bool has_status(CommandVersion version) { return version >= CommandVersion::v4; }
/// From v3 on the size of the terminal is sent.
inline bool has_resize(CommandVersion version) { return version >= CommandVersion::v3; }

/// What came of the header X-Stream-Protocol-Version.
struct Negotiation {
  enum class Outcome : std::uint8_t {
    chosen,
    nothing_offered,  ///< no header, or nothing usable in it: 400
    nothing_common    ///< 403, with one X-Accepted-Stream-Protocol-Versions per name that we have
  };
  Outcome outcome;
  std::string protocol;
};
/// The first protocol of the client that we have. `offered`: all lines of the header, each a comma-separated list.
Negotiation negotiate(std::span<const std::string> offered, std::span<const std::string_view> supported);

/// Columns and rows of a terminal.
struct TerminalSize {
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  bool operator==(const TerminalSize&) const = default;
};
/// `{"Width":80,"Height":24}` and a newline.
std::string encode_resize(TerminalSize size);
/// Reads the stream of sizes, cut anywhere. Objects that are not sizes are skipped.
class ResizeDecoder {
 public:
  /// Errors: Errc::parse for bytes that are no JSON objects, Errc::too_large for one of more than 256 bytes.
  Result<std::vector<TerminalSize>> feed(std::string_view bytes);

 private:
  std::string pending_;
};

/// How a remote command ended.
struct CommandResult {
  enum class Kind : std::uint8_t { success, exited, failed };
  Kind kind = Kind::success;
  std::uint8_t exit_code = 0;  ///< of `exited`
  std::string message;         ///< of `exited` and `failed`: the server's words
};

/// The Status document of a result, as v4 and v5 carry it. For `failed`, `http_code` and `reason` go into it.
std::string encode_result(const CommandResult& result, int http_code = 500, std::string_view reason = "InternalError");
/// The Status document that says why a command could not be run; keeps the answer of an API server if there is one.
std::string encode_failure(const Failure& failure);
/// Reads the bytes of the channel `error` in the given version. Nothing is success. Errors: Errc::protocol.
Result<CommandResult> decode_result(CommandVersion version, std::string_view bytes);
/// The bytes of the channel `error` for a peer of version `to`, from those of a peer of v4 or v5: unchanged for v4 and
/// v5, text for the older ones.
std::string translate_result(std::string_view status, CommandVersion to);

}  // namespace kube::wire
