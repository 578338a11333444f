// Foreign bytes as a WebSocket connection, for both roles, and as exec in each of its subprotocols; also as terminal
// sizes and as the result of a command. The first byte chooses who listens and how the rest is cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/wire/command_codec.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace {

using namespace kube::wire;

constexpr std::size_t output_bound = 1 << 16;

std::uint32_t mask() { return 0x01020304; }

template <class Codec>
void drive(Codec& codec, std::string_view bytes, std::size_t piece) {
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const bool alive = codec.feed(bytes.substr(i, piece)).has_value();
    while (codec.next()) {
    }
    if (codec.pending_output() > output_bound) std::abort();
    if (!alive) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x1f) + 1u;
  const auto protocol = [](std::string_view name) { return websocket_command_protocol(name).value(); };
  constexpr CommandStreams streams{.in = true, .out = true, .err = true};
  switch (data[0] >> 5) {
    case 0: {
      WebSocketCodec codec(WebSocketRole::server, mask, 1 << 16);
      drive(codec, bytes, piece);
      break;
    }
    case 1: {
      WebSocketCodec codec(WebSocketRole::client, mask, 1 << 16);
      drive(codec, bytes, piece);
      break;
    }
    case 2:
      drive(*make_websocket_command(CommandRole::server, protocol("v5.channel.k8s.io"), streams, mask), bytes, piece);
      break;
    case 3:
      drive(*make_websocket_command(CommandRole::client, protocol("v5.channel.k8s.io"), streams, mask), bytes, piece);
      break;
    case 4:
      drive(*make_websocket_command(CommandRole::server, protocol("base64.channel.k8s.io"), streams, mask), bytes,
            piece);
      break;
    case 5:
      drive(*make_websocket_command(CommandRole::client, protocol("v4.base64.channel.k8s.io"), streams, mask), bytes,
            piece);
      break;
    case 6: {
      ResizeDecoder decoder;
      for (std::size_t i = 0; i < bytes.size(); i += piece) {
        if (!decoder.feed(bytes.substr(i, piece))) break;
      }
      break;
    }
    default: {
      const auto result = decode_result(CommandVersion::v4, bytes);
      if (result && !decode_result(CommandVersion::v4, encode_result(*result))) std::abort();
    }
  }
  return 0;
}
