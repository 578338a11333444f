// Exec and attach over WebSocket: each message is one channel number and bytes of that channel (KEP-4006).
#include <array>
#include <deque>

#include "frame_limits.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/printable.hpp"
#include "kube/wire/command_codec.hpp"
#include "kube/wire/websocket_codec.hpp"
#include "take_first.hpp"

namespace kube::wire {
namespace {

// Bytes of one message with base64, which is decoded whole.
constexpr std::size_t max_text = 1 << 20;

class WebSocketCommand final : public CommandCodec {
 public:
  WebSocketCommand(CommandRole role, WebSocketCommandProtocol protocol, CommandStreams streams,
                   std::function<std::uint32_t()> mask)
      : role_(role),
        protocol_(protocol),
        streams_(streams),
        codec_(role == CommandRole::client ? WebSocketRole::client : WebSocketRole::server, std::move(mask)) {
    codec_.hand_to([this](const WebSocketSight& sight) {
      if (failure_) return;
      if (auto taken = take(sight); !taken) failure_ = std::move(taken.error());
    });
  }

  void start() override {
    events_.push_back({.kind = CommandEvent::Kind::ready});
    if (role_ == CommandRole::client) return;
    // A server says that it is ready by an empty message on its lowest channel.
    const CommandChannel lowest = streams_.out   ? CommandChannel::out
                                  : streams_.err ? CommandChannel::err
                                                 : CommandChannel::error;
    send(lowest, {});
  }

  Result<void> feed(std::string_view bytes) override {
    if (failure_) return std::unexpected(*failure_);
    auto fed = codec_.feed(bytes);
    if (!failure_) return fed;
    codec_.close(WebSocketClose::protocol_error);
    return std::unexpected(*failure_);
  }

  std::optional<CommandEvent> next() override { return take_first(events_); }
  void hand_data_to(DataSink sink) override { sink_ = std::move(sink); }

  std::optional<std::string> next_output() override { return codec_.next_output(); }
  std::size_t pending_output() const override { return codec_.pending_output(); }

  bool write(CommandChannel channel, std::string_view bytes) override {
    if (codec_.is_closed() || finished_[index(channel)]) return false;
    while (!bytes.empty()) {
      send(channel, bytes.substr(0, max_sent_data));
      bytes.remove_prefix(std::min(bytes.size(), max_sent_data));
    }
    return true;
  }

  void finish(CommandChannel channel) override {
    if (codec_.is_closed() || finished_[index(channel)]) return;
    // Only the client's v5 has a word for it; a server's channels end with the session.
    if (role_ == CommandRole::client && !can_finish()) return;
    finished_[index(channel)] = true;
    if (role_ == CommandRole::server) return;
    const char message[] = {static_cast<char>(close_channel), static_cast<char>(channel)};
    codec_.send({message, 2});
  }

  bool can_finish() const override { return protocol_.version == CommandVersion::v5; }
  void ping() override { codec_.ping(); }
  void close() override { codec_.close(WebSocketClose::normal); }
  CommandVersion version() const override { return protocol_.version; }

 private:
  static std::size_t index(CommandChannel channel) { return static_cast<std::size_t>(channel); }

  void send(CommandChannel channel, std::string_view bytes) {
    if (protocol_.base64) {
      std::string message(1, static_cast<char>('0' + index(channel)));
      codec_.send(message + encode_base64(bytes), true);
      return;
    }
    const char number = static_cast<char>(channel);
    codec_.send_parts({&number, 1}, bytes);
  }

  void deliver(CommandChannel channel, std::string_view bytes) {
    // Channels that nobody asked for are discarded, as Go's clients and servers do.
    if (bytes.empty() || !may_hear(role_, channel) || ended_[index(channel)]) return;
    if (sink_) return sink_(channel, bytes);
    events_.push_back({.kind = CommandEvent::Kind::data, .channel = channel, .bytes = std::string(bytes)});
  }

  Result<void> take(const WebSocketSight& event) {
    switch (event.kind) {
      case WebSocketEvent::Kind::pong:
        events_.push_back({.kind = CommandEvent::Kind::pong});
        return {};
      case WebSocketEvent::Kind::close:
        events_.push_back({.kind = CommandEvent::Kind::closed});
        if (event.code != 1000 && event.code != 1005) {
          events_.back().bytes = "WebSocket closed with code " + std::to_string(event.code) +
                                 (event.bytes.empty() ? "" : ": " + printable(event.bytes));
        }
        return {};
      case WebSocketEvent::Kind::message:
        break;
    }
    if (event.first) channel_.reset();
    return protocol_.base64 ? take_text(event) : take_binary(event);
  }

  Result<void> take_binary(WebSocketSight event) {
    if (event.text) return fail(Errc::protocol, "WebSocket text message where bytes are spoken");
    if (!channel_ && !event.bytes.empty()) {
      channel_ = static_cast<std::uint8_t>(event.bytes.front());
      event.bytes.remove_prefix(1);
    }
    if (!channel_) return {};
    if (*channel_ == close_channel && can_finish()) {
      closing_ += event.bytes;
      if (closing_.size() > 1 || (event.last && closing_.size() != 1)) {
        return fail(Errc::protocol, "WebSocket channel close of a wrong length");
      }
      if (!event.last) return {};
      const auto number = static_cast<std::uint8_t>(closing_.front());
      closing_.clear();
      if (number >= command_channel_count) return fail(Errc::protocol, "WebSocket close of an unknown channel");
      const auto channel = static_cast<CommandChannel>(number);
      if (!ended_[number] && may_hear(role_, channel))
        events_.push_back({.kind = CommandEvent::Kind::end, .channel = channel});
      ended_[number] = true;
      return {};
    }
    if (*channel_ < command_channel_count) deliver(static_cast<CommandChannel>(*channel_), event.bytes);
    return {};
  }

  Result<void> take_text(const WebSocketSight& event) {
    text_ += event.bytes;
    if (text_.size() > max_text) return fail(Errc::too_large, "WebSocket text message of more than 1 MiB");
    if (!event.last) return {};
    const std::string message = std::move(text_);
    text_.clear();
    if (message.empty()) return {};
    const auto number = static_cast<std::uint8_t>(message.front() - '0');
    auto bytes = decode_base64(std::string_view(message).substr(1));
    if (!bytes) return fail(Errc::protocol, "WebSocket message is not base64");
    if (number < command_channel_count) deliver(static_cast<CommandChannel>(number), *bytes);
    return {};
  }

  CommandRole role_;
  WebSocketCommandProtocol protocol_;
  CommandStreams streams_;
  WebSocketCodec codec_;
  std::optional<std::uint8_t> channel_;  // of the message being read
  std::string closing_;                  // what follows 255
  std::string text_;
  std::array<bool, command_channel_count> finished_{};
  std::array<bool, command_channel_count> ended_{};
  std::optional<Failure> failure_;
  DataSink sink_;
  std::deque<CommandEvent> events_;
};

}  // namespace

std::optional<WebSocketCommandProtocol> websocket_command_protocol(std::string_view name) {
  if (name.empty() || name == "channel.k8s.io") return WebSocketCommandProtocol{CommandVersion::v1, false};
  if (name == "base64.channel.k8s.io") return WebSocketCommandProtocol{CommandVersion::v1, true};
  if (name == "v4.channel.k8s.io") return WebSocketCommandProtocol{CommandVersion::v4, false};
  if (name == "v4.base64.channel.k8s.io") return WebSocketCommandProtocol{CommandVersion::v4, true};
  if (name == "v5.channel.k8s.io") return WebSocketCommandProtocol{CommandVersion::v5, false};
  return std::nullopt;
}

std::unique_ptr<CommandCodec> make_websocket_command(CommandRole role, WebSocketCommandProtocol protocol,
                                                     CommandStreams streams, std::function<std::uint32_t()> mask) {
  return std::make_unique<WebSocketCommand>(role, protocol, streams, std::move(mask));
}

}  // namespace kube::wire
