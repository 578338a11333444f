// Foreign bytes as HTTP/1.1, of a caller and of a server: what is kept of them is bounded, and reading ends. The first
// byte chooses who speaks and how the bytes are cut.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "net/http/http1_reader.hpp"

namespace {

using namespace kube;
namespace asio = boost::asio;

/// So much more than a header may wait: what two reads bring.
constexpr std::size_t kept = net::Http1Reader<true>::max_header + (32U << 10);
constexpr std::size_t body_limit = 10'000;

/// Sends what it was given, and then its last byte again and again until it has sent `most` bytes.
class Scripted final : public net::ByteStream {
 public:
  Scripted(std::string_view bytes, std::size_t piece, std::size_t most) : bytes_(bytes), piece_(piece), left_(most) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    std::size_t size = 0;
    while (size < std::min({buffer.size(), piece_, left_})) buffer[size++] = bytes_[std::min(at_++, bytes_.size() - 1)];
    left_ -= size;
    co_return size;
  }
  asio::awaitable<Result<void>> write(std::string_view) override { co_return Result<void>(); }
  void close() override {}

 private:
  std::string_view bytes_;
  std::size_t piece_, left_, at_ = 0;
};

template <bool IsRequest>
asio::awaitable<void> listen(Scripted& stream) {
  net::Http1Reader<IsRequest> reader;
  for (int messages = 0; messages < 100; ++messages) {
    reader.start(body_limit);
    if (const auto is_whole = co_await reader.read_header(stream); !is_whole || !*is_whole) co_return;
    static_cast<void>(net::headers_of(reader.parser().get()));
    static_cast<void>(reader.has_body());
    for (std::size_t body = 0;;) {
      const auto piece = co_await reader.read_body(stream);
      if (reader.buffered() > kept) std::abort();
      if (!piece) co_return;
      if (piece->empty()) break;
      body += piece->size();
      if (body > body_limit) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x3f) * 100U + 1U;
  // What is begun and does not end must be bounded, too.
  Scripted stream(bytes, piece, (data[0] & 0x40) != 0 ? bytes.size() + (300U << 10) : bytes.size());
  asio::io_context io(1);
  std::exception_ptr thrown;
  asio::co_spawn(io, (data[0] & 0x80) != 0 ? listen<true>(stream) : listen<false>(stream),
                 [&thrown](std::exception_ptr failure) { thrown = failure; });
  io.run();
  if (thrown) std::abort();
  return 0;
}
