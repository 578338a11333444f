#include "kube/client/command_connection.hpp"

#include <algorithm>
#include <utility>

#include "kube/async/finally.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t read_size = 16 * std::size_t{1024};
// What is handed on at a time: what one frame takes.
constexpr std::size_t max_piece = 32 * std::size_t{1024};
// A channel on which such a piece comes is about to be filled.
constexpr std::size_t large_piece = 4 * std::size_t{1024};
// How long our last words may take, and how long we listen to a peer that is still talking after them: closing a socket
// with unread bytes in it would destroy what the peer has not read yet.
constexpr Duration max_sending = 10s;
constexpr Duration max_listening = 2s;

}  // namespace

CommandConnection::CommandConnection(const asio::any_io_executor& executor, async::Clock& clock,
                                     std::unique_ptr<net::ByteStream> stream, std::unique_ptr<wire::CommandCodec> codec,
                                     CommandLimits limits)
    : executor_(executor),
      clock_(clock),
      stream_(std::move(stream)),
      codec_(std::move(codec)),
      limits_(limits),
      inboxes_{Inbox(executor), Inbox(executor), Inbox(executor), Inbox(executor), Inbox(executor)},
      ready_(executor),
      over_(executor),
      emptied_(executor),
      output_(executor),
      writable_(executor),
      sent_(executor),
      peer_left_(executor),
      life_(clock.now()) {}

asio::awaitable<void> CommandConnection::run() {
  async::TaskGroup group(executor_);
  co_await async::finally(converse(group), hang_up(group));
}

asio::awaitable<void> CommandConnection::converse(async::TaskGroup& group) {
  codec_->hand_data_to([this](Channel channel, std::string_view bytes) { take_data(channel, bytes); });
  codec_->start();
  take_events();
  output_.set();
  group.spawn(read_loop());
  group.spawn(write_loop());
  if (limits_.ping_every > Duration::zero()) group.spawn(keep_alive());
  co_await over_.wait();
  if (!failure_ || failure_->code() == Errc::protocol || failure_->code() == Errc::too_large) co_await farewell();
}

asio::awaitable<void> CommandConnection::hang_up(async::TaskGroup& group) {
  stream_->close();
  if (!over_.is_set()) end(Failure(Errc::stopped, "the session was stopped"));
  co_await group.stop();
}

// Sends what is queued, then our goodbye, and lets the peer close first.
asio::awaitable<void> CommandConnection::farewell() {
  codec_->close();
  sent_.reset();
  output_.set();
  const bool sent = co_await sent_.wait_for(clock_, max_sending);
  if (sent && !peer_said_goodbye_) co_await peer_left_.wait_for(clock_, max_listening);
}

void CommandConnection::end(std::optional<Failure> failure) {
  if (over_.is_set()) return;
  failure_ = std::move(failure);
  over_.set();
  ready_.set();
  emptied_.set();
  writable_.set();
  for (Inbox& box : inboxes_) box.readable.set();
}

void CommandConnection::close() { end(std::nullopt); }

bool CommandConnection::is_full() const {
  return std::any_of(inboxes_.begin(), inboxes_.end(),
                     [this](const Inbox& box) { return box.bytes.size() >= limits_.buffer; });
}

asio::awaitable<void> CommandConnection::read_loop() {
  std::string buffer(read_size, '\0');
  while (true) {
    // Once over, what still comes is thrown away, but it is read: see max_listening.
    while (is_full() && !over_.is_set()) {
      emptied_.reset();
      co_await emptied_.wait();
    }
    life_.listen(clock_.now());
    auto got = co_await stream_->read_some(buffer);
    life_.heard();
    if (!got || *got == 0) {
      end(got ? Failure(Errc::closed, "the connection ended in the middle of the session") : std::move(got.error()));
      break;
    }
    auto fed = codec_->feed(std::string_view(buffer).substr(0, *got));
    take_events();
    output_.set();
    if (!fed) {
      end(std::move(fed.error()));
      break;
    }
  }
  peer_left_.set();
}

void CommandConnection::take_data(Channel channel, std::string_view bytes) {
  life_.received(clock_.now());
  Inbox& box = inbox(channel);
  if (box.discarded || over_.is_set()) return;
  // The whole buffer is reserved, because a string that grows doubles its capacity.
  if (bytes.size() >= large_piece) box.bytes.reserve(limits_.buffer + read_size);
  box.bytes += bytes;
  box.readable.set();
}

void CommandConnection::take_events() {
  using Kind = wire::CommandEvent::Kind;
  while (auto event = codec_->next()) {
    switch (event->kind) {
      case Kind::ready:
        opened_ = true;
        ready_.set();
        break;
      case Kind::pong:
        life_.ponged();
        break;
      case Kind::data:
        take_data(event->channel, event->bytes);
        break;
      case Kind::end:
        inbox(event->channel).ended = true;
        inbox(event->channel).readable.set();
        break;
      case Kind::refused:
        end(Failure(Errc::protocol, "the peer refused the stream " + std::string(to_string(event->channel))));
        break;
      case Kind::closed:
        peer_said_goodbye_ = true;
        if (event->bytes.empty()) {
          end(std::nullopt);
        } else {
          end(Failure(Errc::closed, std::move(event->bytes)));
        }
        break;
    }
  }
}

asio::awaitable<void> CommandConnection::write_loop() {
  while (true) {
    while (auto frame = codec_->next_output()) {
      sending_ = true;
      auto written = co_await stream_->write(*frame);
      sending_ = false;
      if (!written) {
        end(std::move(written.error()));
        sent_.set();
        peer_left_.set();
        co_return;
      }
      if (has_room()) writable_.set();
    }
    sent_.set();
    co_await output_.wait_and_reset();
  }
}

asio::awaitable<void> CommandConnection::keep_alive() {
  while (!over_.is_set()) {
    co_await clock_.sleep(limits_.ping_every);
    if (limits_.idle > Duration::zero() && clock_.now() - life_.last_data() >= limits_.idle) {
      end(Failure(Errc::timeout, "the session was idle for too long"));
      break;
    }
    // No timer on the read itself: a read of TLS that is cancelled and begun again could lose bytes.
    if (life_.is_dead(clock_.now(), limits_.silence) || stream_->is_cut_off()) {
      end(Failure(Errc::timeout, "the peer gives no sign of life"));
      break;
    }
    if (!life_.wants_ping()) continue;
    codec_->ping();
    life_.pinged();
    output_.set();
  }
}

asio::awaitable<Result<void>> CommandConnection::ready(Deadline deadline) {
  const bool in_time = co_await ready_.wait_until(clock_, deadline);
  // A session that opened and ended in one read is ready, too: what the peer said can still be read.
  if (opened_) co_return Result<void>();
  if (!in_time) co_return fail(Errc::timeout, "the streams of the session were not opened in time");
  if (failure_) co_return std::unexpected(*failure_);
  co_return fail(Errc::closed, "the peer ended the session before it began");
}

asio::awaitable<Result<std::string>> CommandConnection::read(Channel channel) {
  Inbox& box = inbox(channel);
  while (box.bytes.empty() && !box.ended && !over_.is_set()) {
    box.readable.reset();
    co_await box.readable.wait();
  }
  if (!box.bytes.empty()) {
    std::string bytes = std::exchange(box.bytes, {});
    if (bytes.size() > max_piece) {
      box.bytes = bytes.substr(max_piece);
      bytes.resize(max_piece);
    }
    emptied_.set();
    co_return bytes;
  }
  if (!box.ended && failure_) co_return std::unexpected(*failure_);
  co_return std::string();
}

void CommandConnection::discard(Channel channel) {
  inbox(channel).discarded = true;
  std::string().swap(inbox(channel).bytes);
  emptied_.set();
}

asio::awaitable<void> CommandConnection::room() {
  while (!has_room() && !over_.is_set()) {
    writable_.reset();
    co_await writable_.wait();
  }
}

asio::awaitable<Result<void>> CommandConnection::write(Channel channel, std::string_view bytes) {
  while (!bytes.empty()) {
    co_await room();
    const std::string_view piece = bytes.substr(0, max_piece);
    if (over_.is_set() || !codec_->write(channel, piece)) {
      co_return failure_ ? Result<void>(std::unexpected(*failure_))
                         : fail(Errc::closed, "the peer takes no more on " + std::string(to_string(channel)));
    }
    life_.wrote(clock_.now());
    output_.set();
    bytes.remove_prefix(piece.size());
  }
  co_return Result<void>();
}

void CommandConnection::finish(Channel channel) {
  codec_->finish(channel);
  output_.set();
}

}  // namespace kube
