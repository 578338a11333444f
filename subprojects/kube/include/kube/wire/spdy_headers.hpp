// Header blocks of SPDY/3.1: name/value lists, compressed in one zlib stream per direction with a preset dictionary.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/request.hpp"

struct z_stream_s;

namespace kube::wire {

/// Names and values in the order of the wire: see find_header().
using SpdyHeaders = HttpHeaders;

/// Makes the header blocks that one side sends: a zlib stream whose blocks are stored as they are, because lists here
/// are short, and compressing them takes 10 KiB for as long as a session lives. Blocks must reach the wire in the order
/// in which they were made.
class SpdyHeaderEncoder {
 public:
  /// One block, ended as by a sync flush. Names are written in lower case. A list of more than 3 KiB is
  /// Errc::too_large: Go's reader of these blocks works through a buffer of 4 KiB and fails on longer ones.
  Result<std::string> encode(const SpdyHeaders& headers);

 private:
  bool begun_ = false;  ///< the stream's head has gone out
};

/// Decompresses the header blocks of one peer. After a failure the direction is lost: the connection must end. Between
/// blocks it holds the text that later blocks may refer to, and not the 40 KiB that decompressing takes.
class SpdyHeaderDecoder {
 public:
  /// `max_block`: the most bytes of one block after decompression.
  explicit SpdyHeaderDecoder(std::size_t max_block);
  ~SpdyHeaderDecoder();
  SpdyHeaderDecoder(SpdyHeaderDecoder&&) noexcept;
  SpdyHeaderDecoder& operator=(SpdyHeaderDecoder&&) noexcept;

  /// Errors: Errc::protocol (bad zlib data, counts that do not add up), Errc::too_large.
  Result<SpdyHeaders> decode(std::string_view block);

 private:
  Result<std::string> inflate(std::string_view block);
  void wake();
  void rest();
  std::unique_ptr<z_stream_s> stream_;  // none between blocks, once there was one
  std::string said_;                    // then, what later blocks may refer to
  std::size_t max_block_;
};

}  // namespace kube::wire
