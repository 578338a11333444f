// HTTP/2 (RFC 9113) in the client role as a pure state machine over nghttp2: bytes in, events and bytes out. The owner
// of the socket drives it; nothing here waits, reads a clock or calls back. For programs that have sockets of their
// own: net::HttpClient drives one for each connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/k8s/request.hpp"

namespace kube::wire {

/// What a session grants its peer, and what it bears from it.
struct Http2Options {
  std::uint32_t connection_window = 16U << 20;  ///< bytes in flight over all streams, given back as they arrive
  std::uint32_t stream_window = 1U << 20;       ///< bytes in flight per stream, given back by consume()
  std::uint32_t max_frame_size = 16384;         ///< the largest frame that the peer may send, at least 16384
  std::size_t max_header_list = 64U << 10;      ///< names and values of one answer, 32 bytes more for each field
};

namespace http2 {

using StreamId = std::int32_t;

/// What the URLs of all requests to a server begin with.
struct BaseUrl {
  std::string_view scheme, authority;
  std::string_view path = {};  ///< comes before the path of each request
};

/// The final answer's status and headers (1xx answers and trailers are not reported).
struct Headers {
  StreamId stream = 0;
  int status = 0;
  HttpHeaders fields;  ///< no pseudo-headers
};
/// Bytes of a body. They count against the stream's window until consume().
struct Data {
  StreamId stream = 0;
  std::string bytes;
};
/// The body is complete.
struct End {
  StreamId stream = 0;
};
/// The stream ended before its body did.
struct Reset {
  StreamId stream = 0;
  bool unprocessed = false;  ///< the peer has not looked at the request: any verb may be repeated elsewhere
  Failure failure;
};
/// The peer takes no more streams on this connection; those that it still serves go on.
struct GoAway {
  StreamId last_stream = 0;
  std::uint32_t error_code = 0;
  std::string debug;  ///< at most 256 bytes, from the peer
};
struct PingAck {
  std::uint64_t payload = 0;
};
/// The peer's settings came or changed.
struct Settings {
  std::uint32_t max_concurrent_streams = 0;
};

using Event = std::variant<Headers, Data, End, Reset, GoAway, PingAck, Settings>;

}  // namespace http2

/// One connection's state. Streams beyond the peer's limit wait inside until others end. One thread.
class Http2Session {
 public:
  explicit Http2Session(const Http2Options& options = {});
  ~Http2Session();
  Http2Session(Http2Session&&) noexcept;
  Http2Session& operator=(Http2Session&&) noexcept;

  /// Takes bytes from the peer. A failure (Errc::protocol, Errc::too_large) ends the connection: what is pending in
  /// take_output() still gives the peer the reason.
  Result<void> feed(std::string_view bytes);
  /// The events since the last call, in the order in which they came.
  std::vector<http2::Event> take_events();
  /// Appends up to about `max_bytes` pending bytes to `out`. Errors: Errc::protocol.
  Result<void> take_output(std::string& out, std::size_t max_bytes = 256U << 10);
  /// True while take_output() has something to give.
  bool has_output() const;

  /// Queues a request; the answer's events carry the returned id. The body is sent as the peer's windows allow.
  /// `extra` are headers besides the request's own. Errors: Errc::invalid_input (a header that HTTP cannot carry),
  /// Errc::closed (no new streams on this connection).
  Result<http2::StreamId> submit(const HttpRequest& request, const http2::BaseUrl& base, const HttpHeaders& extra = {});
  /// True once the request's headers have been handed out by take_output(): the peer may know of it.
  bool is_sent(http2::StreamId stream) const;
  /// Gives back `bytes` of a stream's window: its reader has taken them.
  void consume(http2::StreamId stream, std::size_t bytes);
  /// Stops a stream (CANCEL); no more events come for it. A request that was not sent yet is dropped.
  void cancel(http2::StreamId stream);
  /// Asks the peer for a sign of life: its answer is an event PingAck.
  void ping(std::uint64_t payload);
  /// Says goodbye: the peer gets a GOAWAY, streams end. The library itself only closes the connection; this is for
  /// whoever uses a session alone.
  void terminate();

  /// True once the peer or terminate() has ended the taking of new streams.
  bool is_closing() const;
  /// True once there is nothing more to read or write: the connection can be closed.
  bool is_over() const;
  /// Streams that are open or wait to be opened.
  std::size_t streams() const;
  /// How many streams the peer takes at once (100 until it has said).
  std::size_t max_concurrent_streams() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::wire
