// Bodies that come compressed.
#pragma once

#include <memory>
#include <string>

#include "kube/base/failure.hpp"

namespace kube::wire {

/// Unpacks a gzip stream (RFC 1952) of one or more members as it arrives, in blocks: what a peer has packed a
/// thousandfold takes no more memory at once than anything else, and the caller may stop after any block. Between two
/// members it holds next to no memory.
class GzipDecoder {
 public:
  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  /// Takes the next bytes; what came before has to be taken first, until take() returns "".
  void feed(std::string bytes);
  /// At most `max_block` bytes of what is inside; "" = more has to be fed. Errors: Errc::protocol if it is no gzip, a
  /// checksum is wrong, or something other than a member follows one.
  Result<std::string> take();
  /// Whether what was fed ends where a member ends.
  bool is_complete() const;

  static constexpr std::size_t max_block = 64U << 10;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::wire
