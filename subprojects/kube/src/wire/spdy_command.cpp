// Exec and attach over SPDY/3.1: one stream per channel, all opened by the client and distinguished by `streamType`.
#include <algorithm>
#include <array>
#include <deque>

#include "kube/wire/command_codec.hpp"
#include "kube/wire/spdy_session.hpp"
#include "take_first.hpp"

namespace kube::wire {
namespace {

// In the order in which Go's clients open them.
constexpr std::array opening_order = {CommandChannel::error, CommandChannel::in, CommandChannel::out,
                                      CommandChannel::err, CommandChannel::resize};
// A session has five streams; more are refused.
constexpr std::size_t max_streams = 16;

class SpdyCommand final : public CommandCodec {
 public:
  SpdyCommand(CommandRole role, CommandVersion version, CommandStreams streams)
      : role_(role),
        version_(version),
        session_(role == CommandRole::client ? SpdyRole::client : SpdyRole::server, {.streams = max_streams}) {
    for (const CommandChannel channel : opening_order) {
      const bool known = channel != CommandChannel::resize || has_resize(version);
      if (streams.has(channel) && known) expected_.push_back(channel);
    }
  }

  void start() override {
    if (role_ == CommandRole::client) open_next();
  }

  Result<void> feed(std::string_view bytes) override {
    auto fed = session_.feed(bytes);
    while (auto event = session_.next()) take(std::move(*event));
    return fed;
  }

  std::optional<CommandEvent> next() override { return take_first(events_); }

  // Nothing is taken on a stream before it was replied to, so its channel is known.
  void hand_data_to(DataSink sink) override {
    session_.hand_data_to([this, sink = std::move(sink)](std::uint32_t stream, std::string_view bytes) {
      // If nobody reads, it would hold the others up.
      if (const auto channel = channel_of(stream); channel && may_hear(role_, *channel)) sink(*channel, bytes);
    });
  }

  std::optional<std::string> next_output() override { return session_.next_output(); }
  std::size_t pending_output() const override { return session_.pending_output(); }
  bool write(CommandChannel channel, std::string_view bytes) override { return session_.write(id(channel), bytes); }
  void finish(CommandChannel channel) override { session_.finish(id(channel)); }
  bool can_finish() const override { return true; }
  void ping() override { session_.ping(); }
  void close() override { session_.close(); }
  CommandVersion version() const override { return version_; }

 private:
  // 0, which no stream has, if the channel is not open.
  std::uint32_t id(CommandChannel channel) const { return ids_[static_cast<std::size_t>(channel)]; }
  std::optional<CommandChannel> channel_of(std::uint32_t stream) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] == stream) return static_cast<CommandChannel>(i);
    }
    return std::nullopt;
  }

  // Each stream waits for the reply to the one before it, as Go's clients do.
  void open_next() {
    if (expected_.empty()) {
      all_open();
      return;
    }
    const CommandChannel channel = expected_.front();
    const SpdyHeaders headers = {{"streamtype", std::string(to_string(channel))}};
    if (const auto stream = session_.open(headers)) ids_[static_cast<std::size_t>(channel)] = *stream;
  }

  void all_open() {
    events_.push_back({.kind = CommandEvent::Kind::ready});
    session_.forget_headers();
  }

  void opened(std::uint32_t stream, const SpdyHeaders& headers) {
    const auto channel = command_channel(find_header(headers, "streamtype"));
    const auto expected = channel ? std::find(expected_.begin(), expected_.end(), *channel) : expected_.end();
    // A stream of an unknown type is left unanswered and not counted, as kubelets do; so is one that the request did
    // not announce.
    if (expected == expected_.end()) return;
    ids_[static_cast<std::size_t>(*channel)] = stream;
    expected_.erase(expected);
    session_.reply(stream);
    if (expected_.empty()) {
      all_open();
      // A client of v1 waits for the end of its stdin stream before it sends anything else.
      if (version_ == CommandVersion::v1) session_.finish(id(CommandChannel::in));
    }
  }

  void take(SpdyEvent event) {
    if (event.kind == SpdyEvent::Kind::opened) return opened(event.stream, event.headers);
    if (event.kind == SpdyEvent::Kind::going_away) {
      events_.push_back({.kind = CommandEvent::Kind::closed});
      return;
    }
    if (event.kind == SpdyEvent::Kind::pong) {
      events_.push_back({.kind = CommandEvent::Kind::pong});
      return;
    }
    const auto channel = channel_of(event.stream);
    if (!channel || event.stream == 0) return;
    switch (event.kind) {
      case SpdyEvent::Kind::replied:
        if (!expected_.empty() && expected_.front() == *channel) {
          expected_.pop_front();
          open_next();
        }
        break;
      case SpdyEvent::Kind::data:
        if (may_hear(role_, *channel))
          events_.push_back({.kind = CommandEvent::Kind::data, .channel = *channel, .bytes = std::move(event.bytes)});
        break;
      case SpdyEvent::Kind::reset:
        // The one stream that still waits for its reply was refused; any other reset is a plain end, as in Go.
        if (role_ == CommandRole::client && !expected_.empty() && expected_.front() == *channel) {
          events_.push_back({.kind = CommandEvent::Kind::refused, .channel = *channel});
          break;
        }
        [[fallthrough]];
      case SpdyEvent::Kind::finished:
        events_.push_back({.kind = CommandEvent::Kind::end, .channel = *channel});
        break;
      default:
        break;
    }
  }

  CommandRole role_;
  CommandVersion version_;
  SpdySession session_;
  std::deque<CommandChannel> expected_;  // channels that are not open yet
  std::array<std::uint32_t, command_channel_count> ids_{};
  std::deque<CommandEvent> events_;
};

}  // namespace

std::unique_ptr<CommandCodec> make_spdy_command(CommandRole role, CommandVersion version, CommandStreams streams) {
  return std::make_unique<SpdyCommand>(role, version, streams);
}

}  // namespace kube::wire
