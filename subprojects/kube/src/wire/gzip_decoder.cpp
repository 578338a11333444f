#include "kube/wire/gzip_decoder.hpp"

#include <zlib.h>

#include <new>
#include <utility>

namespace kube::wire {

struct GzipDecoder::Impl {
  z_stream stream{};
  std::string input;
  bool ended = false;
};

GzipDecoder::GzipDecoder() : impl_(std::make_unique<Impl>()) {
  constexpr int gzip_only = 16;
  if (inflateInit2(&impl_->stream, gzip_only + MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

GzipDecoder::~GzipDecoder() { inflateEnd(&impl_->stream); }

void GzipDecoder::feed(std::string bytes) {
  impl_->input = std::move(bytes);
  impl_->stream.next_in = reinterpret_cast<Bytef*>(impl_->input.data());
  impl_->stream.avail_in = static_cast<uInt>(impl_->input.size());
}

Result<std::string> GzipDecoder::take() {
  z_stream& stream = impl_->stream;
  if (impl_->ended) {
    if (stream.avail_in > 0) return fail(Errc::protocol, "bytes follow the end of a gzip stream");
    return std::string();
  }
  std::string out(max_block, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int how = inflate(&stream, Z_NO_FLUSH);
  // Nothing to read, and nothing left to write, is no failure.
  if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
    return fail(Errc::protocol, "a body that is said to be gzip is not: " + std::string(stream.msg ? stream.msg : "?"));
  impl_->ended = how == Z_STREAM_END;
  out.resize(out.size() - stream.avail_out);
  if (out.empty() && impl_->ended && stream.avail_in > 0)
    return fail(Errc::protocol, "bytes follow the end of a gzip stream");
  return out;
}

bool GzipDecoder::is_complete() const { return impl_->ended; }

}  // namespace kube::wire
