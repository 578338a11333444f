// Foreign bytes as a caller of port-forward, as the provider's SPDY/3.1, and as that in a WebSocket tunnel. The first
// byte chooses who speaks and how the rest is cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kube/wire/port_forward_relay.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace {

using namespace kube;
using namespace kube::wire;

constexpr std::size_t output_bound = 1 << 20;
constexpr ForwardLimits limits{.pairs = 20};
constexpr TimePoint start{};

void drain(PortForwardRelay& relay, ForwardSide side) {
  while (relay.next_output(side)) {
  }
}

void check(const PortForwardRelay& relay) {
  if (relay.size() > limits.pairs) std::abort();
  for (const ForwardSide side : {ForwardSide::caller, ForwardSide::provider}) {
    if (relay.pending_output(side) > output_bound) std::abort();
  }
}

/// Whatever was said, everything ends: first what must in time, then the rest.
void end(PortForwardRelay& relay) {
  relay.expire(start + std::chrono::hours(1));
  relay.provider_failed("no way there");
  check(relay);
  relay.close("the end");
  if (relay.size() != 0 || relay.next_deadline() != TimePoint::max()) std::abort();
  drain(relay, ForwardSide::caller);
  drain(relay, ForwardSide::provider);
}

void as_caller(std::string_view bytes, std::size_t piece, bool connects) {
  PortForwardRelay relay("rome/web", limits);
  SpdySession provider(SpdyRole::server);
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const bool alive = relay.feed(ForwardSide::caller, bytes.substr(i, piece), start).has_value();
    if (connects && relay.wants_provider()) relay.provider_connected();
    while (auto frame = relay.next_output(ForwardSide::provider)) {
      // What we say is never wrong.
      if (!provider.feed(*frame)) std::abort();
    }
    while (auto event = provider.next()) {
      if (event->kind == SpdyEvent::Kind::opened) provider.reply(event->stream);
      if (event->kind == SpdyEvent::Kind::data) provider.write(event->stream, event->bytes);
      if (event->kind == SpdyEvent::Kind::finished) provider.finish(event->stream);
    }
    while (auto frame = provider.next_output()) {
      if (!relay.feed(ForwardSide::provider, *frame, start)) std::abort();
    }
    check(relay);
    if (!alive) break;
  }
  end(relay);
}

void as_provider(std::string_view bytes, std::size_t piece, bool in_tunnel) {
  PortForwardRelay relay("rome/web", limits);
  SpdySession caller(SpdyRole::client);
  for (const char* request : {"0", "1"}) {
    for (const char* type : {"error", "data"}) {
      static_cast<void>(caller.open({{"streamtype", type}, {"port", "80"}, {"requestid", request}}));
    }
  }
  while (auto frame = caller.next_output()) {
    if (!relay.feed(ForwardSide::caller, *frame, start)) std::abort();
  }
  relay.provider_connected();
  WebSocketCodec tunnel(WebSocketRole::client, [] { return 0U; });
  bool alive = true;
  for (std::size_t i = 0; i < bytes.size() && alive; i += piece) {
    const std::string_view next = bytes.substr(i, piece);
    if (in_tunnel) {
      alive = tunnel.feed(next).has_value();
      while (auto event = tunnel.next()) {
        alive = alive && relay.feed(ForwardSide::provider, event->bytes, start);
      }
      while (tunnel.next_output()) {
      }
    } else {
      alive = relay.feed(ForwardSide::provider, next, start).has_value();
    }
    while (auto frame = relay.next_output(ForwardSide::caller)) {
      // Nor is it to the caller.
      if (!caller.feed(*frame)) std::abort();
    }
    while (caller.next()) {
    }
    check(relay);
  }
  end(relay);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x3f) + 1U;
  switch (data[0] >> 6) {
    case 0:
      as_caller(bytes, piece, true);
      break;
    case 1:
      as_caller(bytes, piece, false);
      break;
    case 2:
      as_provider(bytes, piece, false);
      break;
    default:
      as_provider(bytes, piece, true);
  }
  return 0;
}
