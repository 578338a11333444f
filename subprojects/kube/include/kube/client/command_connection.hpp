// Exec or attach over one upgraded connection, for either role: moves bytes between the connection and its channels,
// with bounded buffers, signs of life and an orderly end.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/signs_of_life.hpp"
#include "kube/net/transport.hpp"
#include "kube/wire/command_codec.hpp"

namespace kube {

namespace asio = boost::asio;

/// How long a connection may be quiet, and how much it may hold. Zero durations: never. Silence and idleness are
/// checked with each ping.
struct CommandLimits {
  Duration ping_every = std::chrono::seconds(5);
  /// A peer that we read and that sends nothing is dead, unless it may be stuck in data of ours: Go's peers answer no
  /// ping while the program behind them does not read its stdin.
  Duration silence = std::chrono::seconds(30);
  /// No data either way, whatever the pings say.
  Duration idle = {};
  /// Bytes waiting for their reader per channel. While a channel holds this much the connection is not read, of which
  /// each read may bring 16 KiB more: SPDY and WebSocket have no other back-pressure.
  std::size_t buffer = 24 * std::size_t{1024};
};

/// One session. run() does the work and must be running for anything else to make progress; spawn it into the group of
/// those who use the channels, and destroy the session only after it has ended. One thread.
class CommandConnection {
 public:
  using Channel = wire::CommandChannel;

  CommandConnection(const asio::any_io_executor& executor, async::Clock& clock, std::unique_ptr<net::ByteStream> stream,
                    std::unique_ptr<wire::CommandCodec> codec, CommandLimits limits = {});
  CommandConnection(const CommandConnection&) = delete;
  CommandConnection& operator=(const CommandConnection&) = delete;

  /// Reads, writes and pings until the session is over: the peer said goodbye or vanished, or close() was called and
  /// what was written is sent. Never fails; cancellation (terminal) closes the connection at once and is thrown on.
  asio::awaitable<void> run();

  /// Waits until every channel is open, or has been: what arrived can be read although the session is over. Errors:
  /// Errc::timeout, Errc::protocol (the peer refused one), Errc::closed.
  asio::awaitable<Result<void>> ready(Deadline deadline);

  /// What has arrived on a channel, at most 32 KiB; "" is its end. What arrived before the session was over can still
  /// be read after it. Errors: Errc::closed, Errc::timeout, Errc::protocol: the session broke before the channel ended.
  asio::awaitable<Result<std::string>> read(Channel channel);
  /// Drops what has arrived on a channel and was not read, and what arrives from now on, so that it never holds the
  /// others up.
  void discard(Channel channel);
  /// Queues all bytes, in frames of 32 KiB, each of which waits until the one before is under way. Call it once ready()
  /// has succeeded. Errors: Errc::closed: the peer takes no more on this channel.
  asio::awaitable<Result<void>> write(Channel channel, std::string_view bytes);
  /// Returns once nothing that was written waits any more, or the session is over. A caller that waits here before it
  /// reads its next input holds none of it meanwhile.
  asio::awaitable<void> room();
  /// Sends the peer the end of a channel, if the protocol has one: nothing more will be written on it.
  void finish(Channel channel);
  /// True if the end of stdin can be sent to the peer while its output goes on.
  bool can_finish() const { return codec_->can_finish(); }
  wire::CommandVersion version() const { return codec_->version(); }

  /// Ends the session in order: what was written is still sent. Readers see the end.
  void close();
  /// Returns once the session is over for whatever reason.
  asio::awaitable<void> over() { return over_.wait(); }
  /// Why the session broke, or nullopt while it runs and after an orderly end.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  struct Inbox {
    explicit Inbox(const asio::any_io_executor& executor) : readable(executor) {}
    std::string bytes;
    bool ended = false;
    bool discarded = false;
    async::Event readable;
  };

  /// Runs the loops in `group` until the session is over and the last words are sent.
  asio::awaitable<void> converse(async::TaskGroup& group);
  /// Closes the connection, wakes those who still use it, and waits for the loops.
  asio::awaitable<void> hang_up(async::TaskGroup& group);
  asio::awaitable<void> read_loop();
  asio::awaitable<void> write_loop();
  asio::awaitable<void> keep_alive();
  asio::awaitable<void> farewell();
  void take_events();
  void take_data(Channel channel, std::string_view bytes);
  bool is_full() const;
  bool has_room() const { return !sending_ && codec_->pending_output() == 0; }
  void end(std::optional<Failure> failure);
  Inbox& inbox(Channel channel) { return inboxes_[static_cast<std::size_t>(channel)]; }

  asio::any_io_executor executor_;
  async::Clock& clock_;
  std::unique_ptr<net::ByteStream> stream_;
  std::unique_ptr<wire::CommandCodec> codec_;
  CommandLimits limits_;
  std::array<Inbox, wire::command_channel_count> inboxes_;
  async::Event ready_;
  async::Event over_;       // nothing more will come of this session
  async::Event emptied_;    // an inbox was
  async::Event output_;     // the codec has something to send
  async::Event writable_;   // everything was handed to the network
  async::Event sent_;       // everything queued has been sent
  async::Event peer_left_;  // the read loop has ended
  std::optional<Failure> failure_;
  SignsOfLife life_;
  bool opened_ = false;   // every channel has been open
  bool sending_ = false;  // a frame is on its way to the network
  bool peer_said_goodbye_ = false;
};

}  // namespace kube
