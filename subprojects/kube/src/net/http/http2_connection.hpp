// One HTTP/2 connection: the coroutines that drive an Http2Session over a ByteStream, and the streams that wait on it.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/net/transport.hpp"
#include "kube/wire/http2_session.hpp"

namespace kube::net {

struct Http2Timing {
  Duration ping_after = std::chrono::seconds(10);    ///< silence after which the peer is asked for a sign of life
  Duration ping_timeout = std::chrono::seconds(10);  ///< how long it may take
};

class Http2Connection;

/// One request's state between connection and reader. Outlives its connection.
struct Http2Stream {
  explicit Http2Stream(const asio::any_io_executor& executor) : wake(executor) {}
  Http2Connection* connection = nullptr;  ///< null once the connection or the stream is over
  wire::http2::StreamId id = 0;
  async::Event wake;
  std::optional<ResponseHead> head;
  std::list<std::string> chunks;  ///< a deque would take 600 bytes of each idle watch
  bool ended = false;
  std::optional<Failure> failure;
  bool unprocessed = false;  ///< with `failure`: the peer has not acted on the request
  std::optional<std::multimap<TimePoint, Http2Stream*>::iterator> deadline;
};

/// Keeps one stream; letting go of it before its end resets the stream.
class Http2StreamHandle {
 public:
  explicit Http2StreamHandle(std::shared_ptr<Http2Stream> stream) : stream_(std::move(stream)) {}
  Http2StreamHandle(Http2StreamHandle&&) noexcept = default;
  Http2StreamHandle& operator=(Http2StreamHandle&&) = delete;
  ~Http2StreamHandle();
  /// Waits for the answer's headers. Errors: Errc::timeout (none by the request's deadline), Errc::closed (the
  /// connection or the stream broke), Errc::protocol, Errc::too_large, Errc::stopped.
  asio::awaitable<Result<ResponseHead>> head();
  /// The next bytes of the body, "" = end.
  asio::awaitable<Result<std::string>> read();
  bool unprocessed() const { return stream_->unprocessed; }

 private:
  std::shared_ptr<Http2Stream> stream_;
};

/// Lives from the handshake to the end of run(). One thread.
class Http2Connection {
 public:
  /// `room_made` is called when there may be room for one more.
  Http2Connection(asio::any_io_executor executor, async::Clock& clock, std::unique_ptr<ByteStream> stream,
                  Http2Timing timing, std::function<void()> room_made);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Reads, writes and keeps alive until the connection is over; returns why. Every stream has ended then. Cancellation
  /// closes the connection and throws.
  asio::awaitable<Failure> run();

  /// Waits for the peer's first settings, the sign that it speaks HTTP/2. Errors: why the connection ended before.
  asio::awaitable<Result<void>> ready();
  /// Ends the connection.
  void close(Failure why) { finish(std::move(why)); }

  /// Sends a request; the answer's headers must come by the deadline. Errors: as Http2Session::submit.
  Result<Http2StreamHandle> open(const HttpRequest& request, const wire::http2::BaseUrl& base, const HttpHeaders& extra,
                                 Deadline deadline);
  /// True while one more stream would be opened at once.
  bool has_room() const;
  /// Takes no more streams; the connection is closed once the last one has ended.
  void drain();
  bool is_draining() const { return draining_; }
  std::size_t streams() const { return streams_.size(); }
  /// Since when no stream is open; meaningless while one is.
  TimePoint idle_since() const { return idle_since_; }

 private:
  friend class Http2StreamHandle;
  struct AtEnd;
  asio::awaitable<void> read_loop();
  asio::awaitable<void> write_loop();
  asio::awaitable<void> watch_loop();
  void dispatch(std::vector<wire::http2::Event> events);
  void finish(Failure why);
  void end_all(const Failure& why);
  void forget(Http2Stream& stream);
  void abandon(Http2Stream& stream);
  void taken(const Http2Stream& stream, std::size_t bytes);
  void answered(Http2Stream& stream);

  asio::any_io_executor executor_;
  async::Clock& clock_;
  std::unique_ptr<ByteStream> stream_;
  Http2Timing timing_;
  std::function<void()> room_made_;
  wire::Http2Session session_;
  std::unordered_map<wire::http2::StreamId, std::shared_ptr<Http2Stream>> streams_;
  std::multimap<TimePoint, Http2Stream*> deadlines_;
  async::Event writable_;
  async::Event watch_;
  async::Event ready_;
  async::Event over_;
  std::optional<Failure> why_;
  bool draining_ = false;
  TimePoint last_heard_;
  TimePoint idle_since_;
  std::optional<TimePoint> ping_sent_;
  TimePoint next_watch_ = TimePoint::max();
};

}  // namespace kube::net
