// Foreign bytes as a packed body. The first byte says how they are cut: the decoder must not care, and a block is
// never longer than it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "kube/wire/gzip_decoder.hpp"

namespace {

// What is packed a thousandfold is left alone after so much: a caller has a bound of its own.
constexpr std::size_t enough = 4U << 20;

/// What is inside, or nothing if the bytes are no gzip stream.
std::optional<std::string> unpack(std::string_view bytes, std::size_t piece) {
  kube::wire::GzipDecoder decoder;
  std::string all;
  for (std::size_t i = 0; i < bytes.size() && all.size() < enough; i += piece) {
    decoder.feed(std::string(bytes.substr(i, piece)));
    while (all.size() < enough) {
      auto block = decoder.take();
      if (!block) return std::nullopt;
      if (block->size() > kube::wire::GzipDecoder::max_block) std::abort();
      if (block->empty()) break;
      all += *block;
    }
  }
  if (!decoder.is_complete()) return std::nullopt;
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = unpack(bytes, bytes.size() + 1), pieces = unpack(bytes, std::size_t(data[0] % 32) + 1);
  if (whole && pieces && *whole != *pieces) std::abort();
  if (whole && whole->size() < enough && !pieces) std::abort();
  return 0;
}
