#include "http2_connection.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include "kube/async/task_group.hpp"

namespace kube::net {

namespace http2 = wire::http2;

namespace {

constexpr std::size_t read_size = 32U << 10;
constexpr std::size_t max_write = 128U << 10;

}  // namespace

Http2StreamHandle::~Http2StreamHandle() {
  if (stream_ && stream_->connection != nullptr) stream_->connection->abandon(*stream_);
}

asio::awaitable<Result<ResponseHead>> Http2StreamHandle::head() {
  while (!stream_->head && !stream_->failure) co_await stream_->wake.wait_and_reset();
  if (!stream_->head) co_return std::unexpected(*stream_->failure);
  co_return std::move(*stream_->head);
}

asio::awaitable<Result<std::string>> Http2StreamHandle::read() {
  while (stream_->chunks.empty() && !stream_->ended && !stream_->failure) co_await stream_->wake.wait_and_reset();
  if (!stream_->chunks.empty()) {
    std::string chunk = std::move(stream_->chunks.front());
    stream_->chunks.pop_front();
    if (stream_->connection != nullptr) stream_->connection->taken(*stream_, chunk.size());
    co_return chunk;
  }
  if (stream_->failure) co_return std::unexpected(*stream_->failure);
  co_return std::string();
}

Http2Connection::Http2Connection(asio::any_io_executor executor, async::Clock& clock,
                                 std::unique_ptr<ByteStream> stream, Http2Timing timing,
                                 std::function<void()> room_made)
    : executor_(std::move(executor)),
      clock_(clock),
      stream_(std::move(stream)),
      timing_(timing),
      room_made_(std::move(room_made)),
      writable_(executor_),
      watch_(executor_),
      ready_(executor_),
      over_(executor_),
      last_heard_(clock.now()),
      idle_since_(last_heard_) {
  writable_.set();  // the preface
}

Http2Connection::~Http2Connection() { end_all(Failure(Errc::closed, "the connection was closed")); }

asio::awaitable<Failure> Http2Connection::run() {
  async::TaskGroup group(executor_);
  group.spawn(read_loop());
  group.spawn(write_loop());
  group.spawn(watch_loop());
  std::exception_ptr cancelled;
  try {
    co_await over_.wait();
  } catch (const boost::system::system_error&) {
    cancelled = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (cancelled) finish(Failure(Errc::stopped, "the client was stopped"));
  stream_->close();
  co_await group.stop();
  end_all(*why_);
  if (cancelled) std::rethrow_exception(cancelled);
  co_return *why_;
}

Result<Http2StreamHandle> Http2Connection::open(const HttpRequest& request, const wire::http2::BaseUrl& base,
                                                const HttpHeaders& extra, Deadline deadline) {
  if (why_) return std::unexpected(*why_);
  KUBE_TRY(id, session_.submit(request, base, extra));
  auto stream = std::make_shared<Http2Stream>(executor_);
  stream->connection = this;
  stream->id = id;
  if (deadline.at != TimePoint::max()) {
    stream->deadline = deadlines_.emplace(deadline.at, stream.get());
    if (deadline.at < next_watch_) watch_.set();
  }
  streams_.emplace(id, stream);
  writable_.set();
  return Http2StreamHandle(std::move(stream));
}

bool Http2Connection::has_room() const {
  return !why_ && ready_.is_set() && !draining_ && !session_.is_closing() &&
         session_.streams() < session_.max_concurrent_streams();
}

asio::awaitable<Result<void>> Http2Connection::ready() {
  co_await ready_.wait();
  if (why_) co_return std::unexpected(*why_);
  co_return Result<void>();
}

void Http2Connection::drain() {
  draining_ = true;
  if (streams_.empty() && !why_) finish(Failure(Errc::closed, "the connection was given up"));
}

struct Http2Connection::AtEnd {
  Http2Connection& connection;
  /// However a loop ends, it takes the connection with it.
  ~AtEnd() { connection.finish(Failure(Errc::closed, "the connection was closed")); }
};

asio::awaitable<void> Http2Connection::read_loop() {
  const AtEnd at_end{*this};
  std::string buffer(read_size, '\0');
  while (!why_) {
    auto count = co_await stream_->read_some(buffer);
    if (!count) {
      finish(std::move(count.error()));
      break;
    }
    if (*count == 0) {
      finish(Failure(Errc::closed, "the server closed the connection"));
      break;
    }
    last_heard_ = clock_.now();
    auto fed = session_.feed(std::string_view(buffer).substr(0, *count));
    dispatch(session_.take_events());
    if (!fed) {
      finish(std::move(fed.error()));
    } else if (session_.is_over()) {
      finish(Failure(Errc::closed, "the server closed the connection"));
    } else if (session_.has_output()) {
      writable_.set();
    }
  }
}

asio::awaitable<void> Http2Connection::write_loop() {
  const AtEnd at_end{*this};
  std::string out;
  while (!why_) {
    co_await writable_.wait_and_reset();
    while (!why_) {
      out.clear();
      auto taken = session_.take_output(out, max_write);
      // Requests that GOAWAY left unsent are reported while output is taken.
      dispatch(session_.take_events());
      if (!taken) {
        finish(std::move(taken.error()));
        break;
      }
      if (out.empty()) break;
      auto written = co_await stream_->write(out);
      if (!written) finish(std::move(written.error()));
    }
    if (!why_ && session_.is_over()) finish(Failure(Errc::closed, "the server closed the connection"));
  }
}

asio::awaitable<void> Http2Connection::watch_loop() {
  const AtEnd at_end{*this};
  while (!why_) {
    next_watch_ = ping_sent_ ? *ping_sent_ + timing_.ping_timeout : last_heard_ + timing_.ping_after;
    if (!deadlines_.empty()) next_watch_ = std::min(next_watch_, deadlines_.begin()->first);
    if (co_await watch_.wait_until(clock_, Deadline{next_watch_})) watch_.reset();
    const TimePoint now = clock_.now();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      Http2Stream& late = *deadlines_.begin()->second;
      late.unprocessed = !session_.is_sent(late.id);
      late.failure = Failure(Errc::timeout, "no answer in time");
      late.wake.set();
      abandon(late);
    }
    if (ping_sent_ && last_heard_ >= *ping_sent_) ping_sent_.reset();
    if (ping_sent_ && now >= *ping_sent_ + timing_.ping_timeout) {
      finish(Failure(Errc::closed, "the server is silent, and answers no ping"));
    } else if (!ping_sent_ && now >= last_heard_ + timing_.ping_after) {
      ping_sent_ = now;
      session_.ping(static_cast<std::uint64_t>(now.time_since_epoch().count()));
      writable_.set();
    }
  }
}

void Http2Connection::dispatch(std::vector<http2::Event> events) {
  for (auto& event : events) {
    const auto find = [this](http2::StreamId id) -> std::shared_ptr<Http2Stream> {
      const auto found = streams_.find(id);
      return found == streams_.end() ? nullptr : found->second;
    };
    if (auto* head = std::get_if<http2::Headers>(&event)) {
      if (auto stream = find(head->stream)) {
        stream->head = ResponseHead{.status = head->status, .headers = std::move(head->fields)};
        answered(*stream);
        stream->wake.set();
      }
    } else if (auto* data = std::get_if<http2::Data>(&event)) {
      if (auto stream = find(data->stream)) {
        stream->chunks.push_back(std::move(data->bytes));
        stream->wake.set();
      }
    } else if (auto* end = std::get_if<http2::End>(&event)) {
      if (auto stream = find(end->stream)) {
        stream->ended = true;
        stream->wake.set();
        // A server may answer before it has read the whole request; what is left of that is not sent.
        session_.cancel(stream->id);
        forget(*stream);
      }
    } else if (auto* reset = std::get_if<http2::Reset>(&event)) {
      if (auto stream = find(reset->stream)) {
        stream->failure = std::move(reset->failure);
        stream->unprocessed = reset->unprocessed;
        stream->wake.set();
        forget(*stream);
      }
    } else if (std::holds_alternative<http2::Settings>(event)) {
      ready_.set();
      room_made_();
    } else if (std::holds_alternative<http2::PingAck>(event)) {
      ping_sent_.reset();
      watch_.set();
    } else if (std::holds_alternative<http2::GoAway>(event)) {
      drain();
    }
  }
}

void Http2Connection::finish(Failure why) {
  if (why_) return;
  why_ = std::move(why);
  ready_.set();
  over_.set();
}

void Http2Connection::end_all(const Failure& why) {
  auto streams = std::exchange(streams_, {});
  for (auto& [id, stream] : streams) {
    stream->connection = nullptr;
    stream->deadline.reset();
    if (stream->ended || stream->failure) continue;
    stream->unprocessed = !session_.is_sent(id);
    stream->failure = why;
    stream->wake.set();
  }
  deadlines_.clear();
}

void Http2Connection::answered(Http2Stream& stream) {
  if (stream.deadline) deadlines_.erase(*stream.deadline);
  stream.deadline.reset();
}

void Http2Connection::forget(Http2Stream& stream) {
  answered(stream);
  stream.connection = nullptr;
  streams_.erase(stream.id);  // may destroy `stream`
  if (streams_.empty()) idle_since_ = clock_.now();
  room_made_();
  if (draining_ && streams_.empty()) finish(Failure(Errc::closed, "the connection was given up"));
}

void Http2Connection::abandon(Http2Stream& stream) {
  session_.cancel(stream.id);
  writable_.set();
  forget(stream);
}

void Http2Connection::taken(const Http2Stream& stream, std::size_t bytes) {
  session_.consume(stream.id, bytes);
  if (session_.has_output()) writable_.set();
}

}  // namespace kube::net
