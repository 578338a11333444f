// Foreign bytes as what a server says through a WebSocket tunnel. The first byte chooses how they are cut and read.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/client/websocket_tunnel.hpp"

namespace {

using namespace kube;

/// Sends what it was given, piece by piece, and listens as a server does.
class Scripted final : public net::ByteStream {
 public:
  Scripted(std::string_view bytes, std::size_t piece, wire::WebSocketCodec& server)
      : bytes_(bytes), piece_(piece), server_(server) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    const std::size_t size = std::min({buffer.size(), piece_, bytes_.size()});
    bytes_.copy(buffer.data(), size);
    bytes_.remove_prefix(size);
    co_return size;
  }
  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    // What we say is never wrong.
    if (!server_.feed(bytes)) std::abort();
    co_return Result<void>();
  }
  void close() override {}

 private:
  std::string_view bytes_;
  std::size_t piece_;
  wire::WebSocketCodec& server_;
};

asio::awaitable<void> talk(std::string_view bytes, std::size_t piece) {
  wire::WebSocketCodec server(wire::WebSocketRole::server, {});
  WebSocketTunnel tunnel(std::make_unique<Scripted>(bytes, piece, server), [] { return 0x01020304U; });
  std::string buffer(7, '\0'), said;
  std::size_t heard = 0;
  for (bool goes_on = true; goes_on;) {
    const auto got = co_await tunnel.read_some(buffer);
    goes_on = got && *got > 0;
    heard += got.value_or(0);
    // Never more than was sent, and pings are answered with what is written next.
    if (heard > bytes.size() || got.value_or(0) > buffer.size()) std::abort();
    if (co_await tunnel.write("hello")) said += "hello";
  }
  std::string arrived;
  while (auto event = server.next()) {
    if (event->kind == wire::WebSocketEvent::Kind::message) arrived += event->bytes;
  }
  if (arrived != said) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  asio::io_context io(1);
  std::exception_ptr thrown;
  asio::co_spawn(io, talk(bytes, data[0] + 1U), [&thrown](std::exception_ptr failure) { thrown = failure; });
  io.run();
  if (thrown) std::abort();
  return 0;
}
