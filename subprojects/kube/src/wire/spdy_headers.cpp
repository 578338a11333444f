#include "kube/wire/spdy_headers.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "big_endian.hpp"
#include "kube/base/text.hpp"
#include "spdy_dictionary.hpp"

namespace kube::wire {
namespace {

constexpr std::size_t max_sent_block = 3 * 1024;
// RFC 1950: deflate with a window of 32 KiB, and no preset dictionary, which nobody has to use.
constexpr std::string_view zlib_head = "\x78\x01";

// zlib of Debian declares its input as non-const; it does not write there.
Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

/// A block of deflate that is not compressed (RFC 1951, 3.2.4), and not the last.
void put_stored(std::string& out, std::string_view plain) {
  const auto size = static_cast<std::uint16_t>(plain.size());
  out += '\0';
  for (const unsigned word : {unsigned{size}, ~unsigned{size}}) {
    out += static_cast<char>(word & 0xff);
    out += static_cast<char>(word >> 8 & 0xff);
  }
  out += plain;
}

Result<std::string> take_string(std::string_view& rest) {
  if (rest.size() < 4) return fail(Errc::protocol, "SPDY header block is cut short");
  const std::uint32_t length = get_u32(rest, 0);
  rest.remove_prefix(4);
  if (length > rest.size()) return fail(Errc::protocol, "SPDY header is longer than its block");
  std::string text(rest.substr(0, length));
  rest.remove_prefix(length);
  return text;
}

Result<SpdyHeaders> parse_block(std::string_view rest) {
  if (rest.size() < 4) return fail(Errc::protocol, "SPDY header block is cut short");
  const std::uint32_t count = get_u32(rest, 0);
  rest.remove_prefix(4);
  // Each header takes at least its two lengths: refuse counts that cannot be true before anything is allocated.
  if (count > rest.size() / 8) return fail(Errc::protocol, "SPDY header block announces more headers than it holds");
  SpdyHeaders headers;
  for (std::uint32_t i = 0; i < count; ++i) {
    KUBE_TRY(name, take_string(rest));
    KUBE_TRY(value, take_string(rest));
    std::string_view values = value;
    while (true) {
      const std::size_t end = values.find('\0');
      headers.emplace_back(name, values.substr(0, end));
      if (end == std::string_view::npos) break;
      values.remove_prefix(end + 1);
    }
  }
  if (!rest.empty()) return fail(Errc::protocol, "SPDY header block has bytes behind its last header");
  return headers;
}

}  // namespace

Result<std::string> SpdyHeaderEncoder::encode(const SpdyHeaders& headers) {
  // Several values of one name travel as one, joined by zero bytes.
  SpdyHeaders joined;
  for (const auto& [name, value] : headers) {
    const std::string key = lower_case(name);
    const auto same =
        std::find_if(joined.begin(), joined.end(), [&key](const auto& have) { return have.first == key; });
    if (same == joined.end()) {
      joined.emplace_back(key, value);
    } else {
      same->second += '\0' + value;
    }
  }
  std::string plain;
  put_u32(plain, static_cast<std::uint32_t>(joined.size()));
  for (const auto& [name, value] : joined) {
    put_u32(plain, static_cast<std::uint32_t>(name.size()));
    plain += name;
    put_u32(plain, static_cast<std::uint32_t>(value.size()));
    plain += value;
  }
  if (plain.size() > max_sent_block) return fail(Errc::too_large, "SPDY headers of more than 3 KiB");

  std::string block;
  block.reserve(plain.size() + 12);
  if (!std::exchange(begun_, true)) block += zlib_head;
  put_stored(block, plain);
  // Without an empty block after it, Go's reader waits for the next one before it hands this one on.
  put_stored(block, {});
  return block;
}

SpdyHeaderDecoder::SpdyHeaderDecoder(std::size_t max_block) : max_block_(max_block) {}
SpdyHeaderDecoder::~SpdyHeaderDecoder() {
  if (stream_) inflateEnd(stream_.get());
}
SpdyHeaderDecoder::SpdyHeaderDecoder(SpdyHeaderDecoder&&) noexcept = default;
SpdyHeaderDecoder& SpdyHeaderDecoder::operator=(SpdyHeaderDecoder&& other) noexcept {
  std::swap(stream_, other.stream_);
  std::swap(said_, other.said_);
  std::swap(max_block_, other.max_block_);
  return *this;
}

void SpdyHeaderDecoder::wake() {
  if (stream_) return;
  stream_ = std::make_unique<z_stream_s>();
  // Only the first block has the head of zlib: the rest of the stream is plain deflate.
  [[maybe_unused]] int done = inflateInit2(stream_.get(), said_.empty() ? MAX_WBITS : -MAX_WBITS);
  assert(done == Z_OK);
  if (said_.empty()) return;
  done = inflateSetDictionary(stream_.get(), bytes_of(said_), static_cast<uInt>(said_.size()));
  assert(done == Z_OK);
}

void SpdyHeaderDecoder::rest() {
  // zlib's data_type: whether it is at the beginning of a block of deflate, and how many bits of input are left. Within
  // a block, only zlib's own state knows how to go on.
  constexpr int at_block = 128, unused_bits = 63;
  if ((stream_->data_type & at_block) == 0 || (stream_->data_type & unused_bits) != 0) return;
  uInt size = 0;
  if (inflateGetDictionary(stream_.get(), nullptr, &size) != Z_OK || size == 0) return;
  said_.resize(size);
  [[maybe_unused]] const int done = inflateGetDictionary(stream_.get(), reinterpret_cast<Bytef*>(said_.data()), &size);
  assert(done == Z_OK);
  inflateEnd(stream_.get());
  stream_.reset();
}

Result<std::string> SpdyHeaderDecoder::inflate(std::string_view block) {
  std::string plain;
  std::array<char, 4096> piece;
  wake();
  stream_->next_in = bytes_of(block);
  stream_->avail_in = static_cast<uInt>(block.size());
  while (true) {
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = static_cast<uInt>(piece.size());
    const int done = ::inflate(stream_.get(), Z_SYNC_FLUSH);
    if (done == Z_NEED_DICT) {
      const std::string& dictionary = spdy_dictionary();
      const auto size = static_cast<uInt>(dictionary.size());
      if (inflateSetDictionary(stream_.get(), bytes_of(dictionary), size) != Z_OK) {
        return fail(Errc::protocol, "SPDY header block wants another dictionary");
      }
      continue;
    }
    // Z_BUF_ERROR: nothing more to do with what is here. Z_STREAM_END would end the compression for good.
    if (done != Z_OK && done != Z_BUF_ERROR) return fail(Errc::protocol, "SPDY header block does not decompress");
    plain.append(piece.data(), piece.size() - stream_->avail_out);
    if (plain.size() > max_block_)
      return fail(Errc::too_large, "SPDY header block is larger than " + std::to_string(max_block_));
    if (stream_->avail_out > 0) break;
  }
  if (stream_->avail_in > 0) return fail(Errc::protocol, "SPDY header block does not decompress");
  rest();
  return plain;
}

Result<SpdyHeaders> SpdyHeaderDecoder::decode(std::string_view block) {
  KUBE_TRY(plain, inflate(block));
  return parse_block(plain);
}

}  // namespace kube::wire
