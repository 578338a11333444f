// Reads HTTP/1.1 messages from a ByteStream: Beast's parser, fed by our own coroutines. Both roles use it.
#pragma once

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <optional>

#include "kube/base/text.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

/// One connection's incoming side. Message after message: `start()`, `read_header()`, then `read_body()` until it is
/// empty. Cancelling a read loses nothing.
template <bool IsRequest>
class Http1Reader {
 public:
  using Parser = boost::beast::http::parser<IsRequest, boost::beast::http::buffer_body>;
  static constexpr std::size_t max_header = 64U << 10;

  /// Begins the next message; bytes after the last one are kept.
  void start(std::uint64_t max_body, bool skip_body = false) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(max_header));
    parser_->body_limit(max_body);
    parser_->skip(skip_body);
    parser_->eager(false);
  }

  /// Takes what has arrived of the header; true: that is all of it. Errors: as of read_header().
  Result<bool> buffered_header() {
    boost::system::error_code error;
    if (!parser_->is_header_done() && from_ < buffer_.size())
      from_ += parser_->put(boost::asio::buffer(buffer_.data() + from_, buffer_.size() - from_), error);
    compact();
    if (error && error != boost::beast::http::error::need_more) return std::unexpected(failure_of(error));
    return parser_->is_header_done();
  }

  /// Reads up to the end of the header; false: the peer has closed the connection before the first byte of it. Errors:
  /// Errc::closed, Errc::protocol, Errc::too_large.
  asio::awaitable<Result<bool>> read_header(ByteStream& stream) {
    while (true) {
      KUBE_CO_TRY(taken, buffered_header());
      if (taken) co_return true;
      const bool first = !parser_->got_some() && buffer_.empty();
      KUBE_CO_TRY(more, co_await fill(stream));
      if (more > 0) continue;
      if (first) co_return false;
      co_return fail(Errc::closed, "the peer closed the connection within a header");
    }
  }

  /// Whether all of the body has arrived, as far as the header gives its length.
  bool has_body() const {
    const auto left = parser_->content_length_remaining();
    return left && *left <= buffered();
  }

  /// The next bytes of the body, "" = end.
  asio::awaitable<Result<std::string>> read_body(ByteStream& stream) {
    namespace http = boost::beast::http;
    std::string out;
    while (!parser_->is_done()) {
      boost::system::error_code error;
      bool starved = from_ == buffer_.size();
      if (!starved) {
        out.resize(std::min(chunk_size, buffer_.size() - from_));
        auto& body = parser_->get().body();
        body.data = out.data();
        body.size = out.size();
        from_ += parser_->put(boost::asio::buffer(buffer_.data() + from_, buffer_.size() - from_), error);
        compact();
        out.resize(out.size() - body.size);
        starved = error == http::error::need_more;
        if (error && !starved && error != http::error::need_buffer) co_return std::unexpected(failure_of(error));
        if (!out.empty()) co_return out;
        if (!starved) continue;  // the parser takes one element at a time
      }
      // The parser takes the data of chunks as it comes. It wants the head of a chunk and the trailer whole, and does
      // not bound them.
      if (buffered() > max_header)
        co_return fail(Errc::too_large, "HTTP/1.1: the head of a chunk or the trailer is larger than 64 KiB");
      KUBE_CO_TRY(more, co_await fill(stream));
      if (more == 0) {
        parser_->put_eof(error);
        if (error) co_return fail(Errc::closed, "the peer closed the connection within a body");
      }
    }
    co_return std::string();
  }

  /// Asks `allows` about all bytes that come; if it returns false, reading fails (Errc::too_large).
  void meter(std::function<bool(std::size_t count)> allows) { allows_ = std::move(allows); }

  /// Reads more bytes without looking at them; 0 = the peer has closed.
  asio::awaitable<Result<std::size_t>> fill(ByteStream& stream) {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + chunk_size);
    Result<std::size_t> count = std::size_t{0};
    try {
      count = co_await stream.read_some(std::span<char>(buffer_.data() + before, chunk_size));
    } catch (...) {
      buffer_.resize(before);
      throw;
    }
    buffer_.resize(before + count.value_or(0));
    if (allows_ && count && *count > 0 && !allows_(*count))
      co_return fail(Errc::too_large, "the server has no room for the request");
    co_return count;
  }

  Parser& parser() { return *parser_; }
  bool is_done() const { return parser_->is_done(); }
  /// Whether the message was refused for the length of its body, come or announced.
  bool body_too_large() const { return body_too_large_; }
  /// Bytes that came after what was parsed.
  std::string take_rest() {
    std::string rest = buffer_.substr(from_);
    // Its memory is freed, too: the caller that takes the rest may keep this reader for as long as an upgrade lasts.
    // (An empty string that is assigned would leave it the memory.)
    std::string().swap(buffer_);
    from_ = 0;
    return rest;
  }
  std::size_t buffered() const { return buffer_.size() - from_; }

 private:
  static constexpr std::size_t chunk_size = 16U << 10;

  Failure failure_of(const boost::system::error_code& error) {
    namespace http = boost::beast::http;
    if (error == http::error::header_limit) return {Errc::too_large, "HTTP/1.1: the header is larger than 64 KiB"};
    body_too_large_ = error == http::error::body_limit;
    if (body_too_large_) return {Errc::too_large, "HTTP/1.1: the body is larger than allowed"};
    return {Errc::protocol, "HTTP/1.1: " + error.message()};
  }
  void compact() {
    if (from_ < buffer_.size() && from_ < chunk_size) return;
    buffer_.erase(0, from_);
    from_ = 0;
  }

  std::optional<Parser> parser_;
  bool body_too_large_ = false;
  std::function<bool(std::size_t)> allows_;
  std::string buffer_;
  std::size_t from_ = 0;  ///< the parser has taken what lies before
};

/// Names in lower case, as HTTP/2 has them.
template <class Fields>
HttpHeaders headers_of(const Fields& fields) {
  HttpHeaders headers;
  for (const auto& field : fields) {
    headers.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  }
  return headers;
}

}  // namespace kube::net
