#include "kube/wire/gzip_decoder.hpp"

#include <zlib.h>

#include <new>
#include <utility>

namespace kube::wire {

struct GzipDecoder::Impl {
  z_stream stream{};
  std::string input;
  bool is_open = false;  ///< in the middle of a member; only then zlib holds memory

  ~Impl() { close(); }
  void open() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream, gzip_only + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    is_open = true;
  }
  void close() {
    if (std::exchange(is_open, false)) inflateEnd(&stream);
  }
};

GzipDecoder::GzipDecoder() : impl_(std::make_unique<Impl>()) {}

GzipDecoder::~GzipDecoder() = default;

void GzipDecoder::feed(std::string bytes) {
  impl_->input = std::move(bytes);
  impl_->stream.next_in = reinterpret_cast<Bytef*>(impl_->input.data());
  impl_->stream.avail_in = static_cast<uInt>(impl_->input.size());
}

Result<std::string> GzipDecoder::take() {
  z_stream& stream = impl_->stream;
  if (!impl_->is_open) {
    if (stream.avail_in == 0) return std::string();
    impl_->open();
  }
  std::string out(max_block, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (true) {
    const int how = inflate(&stream, Z_NO_FLUSH);
    // Nothing to read, and nothing left to write, is no failure.
    if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
      return fail(Errc::protocol,
                  "a body that is said to be gzip is not: " + std::string(stream.msg ? stream.msg : "?"));
    if (how != Z_STREAM_END) break;
    if (stream.avail_in == 0) {
      impl_->close();
      break;
    }
    inflateReset(&stream);
    if (stream.avail_out == 0) break;
  }
  out.resize(out.size() - stream.avail_out);
  return out;
}

bool GzipDecoder::is_complete() const { return !impl_->is_open; }

}  // namespace kube::wire
