// Foreign bytes as a SPDY/3.1 connection, for both roles, and as exec over it. The first byte chooses who listens and
// how the rest is cut: the codec must not care.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/wire/command_codec.hpp"
#include "kube/wire/spdy_session.hpp"

namespace {

using namespace kube::wire;

constexpr std::size_t output_bound = 1 << 20;

template <class Codec>
void drive(Codec& codec, std::string_view bytes, std::size_t piece, void (*react)(Codec&)) {
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const bool alive = codec.feed(bytes.substr(i, piece)).has_value();
    react(codec);
    if (codec.pending_output() > output_bound) std::abort();
    if (!alive) break;
  }
  while (codec.next_output()) {
  }
  if (codec.pending_output() != 0) std::abort();
}

void answer(SpdySession& session) {
  while (auto event = session.next()) {
    if (event->kind != SpdyEvent::Kind::opened) continue;
    session.reply(event->stream);
    session.write(event->stream, "x");
    if (event->stream % 4 == 1) session.finish(event->stream);
  }
}

void swallow(CommandCodec& codec) {
  while (codec.next()) {
  }
  codec.write(CommandChannel::out, "x");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x3f) + 1u;
  switch (data[0] >> 6) {
    case 0: {
      SpdySession session(SpdyRole::server, {.streams = 20});
      drive(session, bytes, piece, answer);
      break;
    }
    case 1: {
      SpdySession session(SpdyRole::client);
      for (int i = 0; i < 3; ++i) static_cast<void>(session.open({{"n", std::to_string(i)}}));
      drive(session, bytes, piece, answer);
      break;
    }
    default: {
      const CommandRole role = data[0] >> 6 == 2 ? CommandRole::server : CommandRole::client;
      auto codec = make_spdy_command(role, CommandVersion::v4, {.in = true, .out = true, .err = true});
      codec->start();
      drive(*codec, bytes, piece, swallow);
    }
  }
  return 0;
}
