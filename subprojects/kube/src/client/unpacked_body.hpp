// The content of a body that comes as gzip.
// Tested by test/client/packed_watch_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <utility>

#include "kube/net/transport.hpp"
#include "kube/wire/gzip_decoder.hpp"

namespace kube {

namespace asio = boost::asio;

/// Unpacks a gzip body as it arrives, in blocks of at most 64 KiB.
class UnpackedBody final : public net::Body {
 public:
  explicit UnpackedBody(std::unique_ptr<net::Body> packed) : packed_(std::move(packed)) {}
  /// The next block; an empty string is the end. Errors besides those of the packed body: Errc::protocol if it is no
  /// gzip, or ends in the middle of a member. Cancellation (terminal) throws operation_aborted and leaves the body
  /// usable.
  asio::awaitable<Result<std::string>> read() override;

 private:
  std::unique_ptr<net::Body> packed_;
  wire::GzipDecoder decoder_;
};

}  // namespace kube
