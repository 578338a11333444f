#include "kube/wire/spdy_session.hpp"

#include <algorithm>

#include "big_endian.hpp"
#include "frame_limits.hpp"
#include "take_first.hpp"

namespace kube::wire {
namespace {

constexpr std::size_t head_size = 8;
constexpr std::uint8_t flag_fin = 0x01;
constexpr std::uint8_t flag_unidirectional = 0x02;
// A piece of this size is about to fill a frame.
constexpr std::size_t large_piece = 4 * std::size_t{1024};
// A peer that keeps breaking the rules of streams gets a reset for each; after so many the connection ends.
constexpr std::size_t max_faults = 1000;

enum Type : std::uint16_t {
  type_syn_stream = 1,
  type_syn_reply = 2,
  type_rst_stream = 3,
  type_settings = 4,
  type_ping = 6,
  type_goaway = 7,
  type_headers = 8,
  type_window_update = 9,
};

std::string control(std::uint16_t type, std::uint8_t flags, std::string_view payload) {
  std::string frame;
  put_u16(frame, 0x8003);
  put_u16(frame, type);
  put_u32(frame, static_cast<std::uint32_t>(payload.size()) | static_cast<std::uint32_t>(flags) << 24);
  frame += payload;
  return frame;
}

std::string control_of_two(std::uint16_t type, std::uint32_t first, std::uint32_t second) {
  std::string payload;
  put_u32(payload, first);
  put_u32(payload, second);
  return control(type, 0, payload);
}

std::string data_frame(std::uint32_t stream, std::uint8_t flags, std::string_view bytes) {
  std::string frame;
  frame.reserve(head_size + bytes.size());
  put_u32(frame, stream);
  put_u32(frame, static_cast<std::uint32_t>(bytes.size()) | static_cast<std::uint32_t>(flags) << 24);
  frame += bytes;
  return frame;
}

/// Puts more data into a frame without flags.
void append_data(std::string& frame, std::string_view bytes) {
  frame += bytes;
  const std::size_t size = frame.size() - head_size;
  for (std::size_t i = 0; i < 3; ++i) frame[5 + i] = static_cast<char>((size >> (16 - 8 * i)) & 0xff);
}

}  // namespace

SpdySession::SpdySession(SpdyRole role, SpdyLimits limits)
    : role_(role),
      limits_(limits),
      encoder_(std::in_place),
      next_id_(role == SpdyRole::client ? 1 : 2),
      next_ping_(role == SpdyRole::client ? 1 : 2) {
  if (limits.reads_headers) decoder_.emplace(limits.header_block);
}

Result<void> SpdySession::feed(std::string_view bytes) {
  while (!failure_ && !bytes.empty()) {
    if (auto done = consume(bytes); !done) {
      close(SpdyGoAway::protocol_error);
      failure_ = std::move(done.error());
    }
  }
  if (failure_) return std::unexpected(*failure_);
  return {};
}

// Takes what one step can use: a part of the head, of a control frame's payload or of data.
Result<void> SpdySession::consume(std::string_view& bytes) {
  if (head_.size() < head_size) {
    const std::size_t take = std::min(bytes.size(), head_size - head_.size());
    head_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    if (head_.size() < head_size) return {};
    KUBE_TRYV(start_frame());
  } else {
    const std::size_t take = std::min(bytes.size(), missing_);
    const std::string_view piece = bytes.substr(0, take);
    bytes.remove_prefix(take);
    missing_ -= take;
    if ((head_[0] & 0x80) != 0) {
      payload_ += piece;
    } else if (auto taken = data(piece); !taken) {
      return taken;
    }
  }
  if (missing_ > 0) return {};
  Result<void> done;
  if ((head_[0] & 0x80) != 0) {
    done = control_frame();
  } else {
    data_ended();
  }
  head_.clear();
  payload_.clear();
  return done;
}

Result<void> SpdySession::start_frame() {
  missing_ = static_cast<std::size_t>(get_uint(head_, 5, 3));
  if ((head_[0] & 0x80) == 0) {
    if (get_u32(head_, 0) == 0) return fail(Errc::protocol, "SPDY data for stream 0");
    if (missing_ > limits_.frame)
      return fail(Errc::too_large, "SPDY data frame of " + std::to_string(missing_) + " bytes");
    return {};
  }
  // Control frames are kept whole; none can be much longer than the header list it may carry.
  const std::size_t longest = std::min(limits_.frame, limits_.header_block + 1024);
  if (missing_ > longest) return fail(Errc::too_large, "SPDY control frame of " + std::to_string(missing_) + " bytes");
  return {};
}

std::uint8_t SpdySession::flags() const { return static_cast<std::uint8_t>(head_[4]); }

Result<void> SpdySession::control_frame() {
  const auto type = static_cast<std::uint16_t>(get_uint(head_, 2, 2));
  switch (type) {
    case type_syn_stream:
      return syn_stream();
    case type_syn_reply:
      return syn_reply();
    case type_rst_stream:
      return rst_stream();
    case type_settings:
      return settings();
    case type_ping:
      return ping_frame();
    case type_goaway:
      return go_away();
    case type_headers:
      return headers_frame();
    case type_window_update:
      if (payload_.size() != 8) return fail(Errc::protocol, "SPDY WINDOW_UPDATE of a wrong length");
      return {};
    default:
      return fail(Errc::protocol, "SPDY frame of unknown type " + std::to_string(type));
  }
}

Result<void> SpdySession::syn_stream() {
  if (payload_.size() < 10) return fail(Errc::protocol, "SPDY SYN_STREAM is cut short");
  const std::uint32_t id = get_u32(payload_, 0) & 0x7fffffff;
  // The block of a refused stream goes through the decompressor as well, because later blocks refer to it.
  KUBE_TRY(headers, decode(std::string_view(payload_).substr(10)));
  if (id == 0) return fail(Errc::protocol, "SPDY SYN_STREAM for stream 0");
  if (closed_) return {};
  if (!decoder_) return refuse(id, SpdyReset::refused_stream);
  if (is_ours(id) || id <= last_received_) return refuse(id, SpdyReset::protocol_error);
  last_received_ = id;
  if (peer_streams_ >= limits_.streams) return refuse(id, SpdyReset::refused_stream);
  ++peer_streams_;
  Stream stream;
  stream.remote_finished = (flags() & flag_fin) != 0;
  stream.local_finished = (flags() & flag_unidirectional) != 0;
  const bool finished = stream.remote_finished;
  streams_.emplace(id, stream);
  events_.push_back({.kind = SpdyEvent::Kind::opened, .stream = id, .headers = std::move(headers)});
  if (finished) events_.push_back({.kind = SpdyEvent::Kind::finished, .stream = id});
  return {};
}

Result<SpdyHeaders> SpdySession::decode(std::string_view block) {
  return decoder_ ? decoder_->decode(block) : SpdyHeaders();
}

void SpdySession::forget_headers() {
  encoder_.reset();
  decoder_.reset();
}

Result<void> SpdySession::refuse(std::uint32_t id, SpdyReset reason) {
  if (++faults_ > max_faults) return fail(Errc::too_large, "too many bad SPDY streams");
  send_reset(id, reason);
  return {};
}

Result<void> SpdySession::syn_reply() {
  if (payload_.size() < 4) return fail(Errc::protocol, "SPDY SYN_REPLY is cut short");
  const std::uint32_t id = get_u32(payload_, 0) & 0x7fffffff;
  KUBE_TRY(headers, decode(std::string_view(payload_).substr(4)));
  if (id == 0) return fail(Errc::protocol, "SPDY SYN_REPLY for stream 0");
  const auto stream = streams_.find(id);
  // A reply to a stream that we have given up meanwhile, or a second one, has no meaning.
  if (stream == streams_.end() || !is_ours(id) || stream->second.replied) return {};
  stream->second.replied = true;
  events_.push_back({.kind = SpdyEvent::Kind::replied, .stream = id, .headers = std::move(headers)});
  if ((flags() & flag_fin) != 0) remote_finished(id);
  return {};
}

Result<void> SpdySession::headers_frame() {
  if (payload_.size() < 4) return fail(Errc::protocol, "SPDY HEADERS is cut short");
  const std::uint32_t id = get_u32(payload_, 0) & 0x7fffffff;
  KUBE_TRYV(decode(std::string_view(payload_).substr(4)));
  if (id == 0) return fail(Errc::protocol, "SPDY HEADERS for stream 0");
  if ((flags() & flag_fin) != 0) remote_finished(id);
  return {};
}

Result<void> SpdySession::rst_stream() {
  if (payload_.size() != 8) return fail(Errc::protocol, "SPDY RST_STREAM of a wrong length");
  const std::uint32_t id = get_u32(payload_, 0) & 0x7fffffff;
  const std::uint32_t code = get_u32(payload_, 4);
  if (id == 0 || code == 0) return fail(Errc::protocol, "SPDY RST_STREAM without a stream or a reason");
  const auto stream = streams_.find(id);
  if (stream == streams_.end()) return {};
  if (!is_ours(id)) --peer_streams_;
  streams_.erase(stream);
  events_.push_back({.kind = SpdyEvent::Kind::reset, .stream = id, .code = code});
  return {};
}

Result<void> SpdySession::settings() {
  if (payload_.size() < 4 || (payload_.size() - 4) / 8 != get_u32(payload_, 0) || (payload_.size() - 4) % 8 != 0) {
    return fail(Errc::protocol, "SPDY SETTINGS of a wrong length");
  }
  return {};
}

Result<void> SpdySession::ping_frame() {
  if (payload_.size() != 4 || flags() != 0) return fail(Errc::protocol, "SPDY PING of a wrong form");
  const std::uint32_t id = get_u32(payload_, 0);
  if (id == 0) return fail(Errc::protocol, "SPDY PING without a number");
  if (is_ours(id)) {
    events_.push_back({.kind = SpdyEvent::Kind::pong, .code = id});
  } else if (!closed_ && urgent_.size() < max_urgent) {
    push_urgent(control(type_ping, 0, payload_));
  }
  return {};
}

Result<void> SpdySession::go_away() {
  if (payload_.size() != 8 || flags() != 0) return fail(Errc::protocol, "SPDY GOAWAY of a wrong form");
  events_.push_back({.kind = SpdyEvent::Kind::going_away, .code = get_u32(payload_, 4)});
  return {};
}

Result<void> SpdySession::data(std::string_view piece) {
  const std::uint32_t id = get_u32(head_, 0);
  const auto stream = streams_.find(id);
  // Data on its way when a stream was reset belongs to nobody; so does data before the reply, as in Go.
  if (piece.empty() || stream == streams_.end() || !stream->second.replied) return {};
  if (stream->second.remote_finished) {
    if (!is_ours(id)) --peer_streams_;
    streams_.erase(stream);
    events_.push_back(
        {.kind = SpdyEvent::Kind::reset, .stream = id, .code = static_cast<std::uint32_t>(SpdyReset::protocol_error)});
    return refuse(id, SpdyReset::stream_already_closed);
  }
  if (sink_) {
    sink_(id, piece);
  } else {
    events_.push_back({.kind = SpdyEvent::Kind::data, .stream = id, .bytes = std::string(piece)});
  }
  return {};
}

void SpdySession::data_ended() {
  if ((flags() & flag_fin) != 0) remote_finished(get_u32(head_, 0));
}

void SpdySession::remote_finished(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (stream == streams_.end() || stream->second.remote_finished) return;
  stream->second.remote_finished = true;
  events_.push_back({.kind = SpdyEvent::Kind::finished, .stream = id});
  forget_if_done(stream);
}

void SpdySession::forget_if_done(Streams::iterator stream) {
  if (!stream->second.local_finished || !stream->second.remote_finished) return;
  if (!is_ours(stream->first)) --peer_streams_;
  streams_.erase(stream);
}

std::optional<SpdyEvent> SpdySession::next() { return take_first(events_); }

std::optional<std::string> SpdySession::next_output() {
  auto frame = take_first(urgent_.empty() ? output_ : urgent_);
  if (frame) pending_ -= frame->size();
  if (output_.empty()) growing_ = 0;
  return frame;
}

void SpdySession::push(std::string frame) {
  growing_ = 0;
  pending_ += frame.size();
  output_.push_back(std::move(frame));
}

void SpdySession::push_urgent(std::string frame) {
  pending_ += frame.size();
  urgent_.push_back(std::move(frame));
}

Result<std::uint32_t> SpdySession::open(const SpdyHeaders& headers) {
  if (closed_) return fail(Errc::closed, "the SPDY connection is closing");
  if (!encoder_) return fail(Errc::closed, "the SPDY connection has all its streams");
  KUBE_TRY(block, encoder_->encode(headers));
  const std::uint32_t id = next_id_;
  next_id_ += 2;
  std::string payload;
  put_u32(payload, id);
  put_u32(payload, 0);  // no associated stream
  put_u16(payload, 0);  // priority and slot
  payload += block;
  push(control(type_syn_stream, 0, payload));
  streams_.emplace(id, Stream{});
  return id;
}

void SpdySession::reply(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (closed_ || !encoder_ || stream == streams_.end() || is_ours(id) || stream->second.replied) return;
  stream->second.replied = true;
  std::string payload;
  put_u32(payload, id);
  payload += encoder_->encode({}).value();
  push(control(type_syn_reply, 0, payload));
  forget_if_done(stream);
}

bool SpdySession::write(std::uint32_t id, std::string_view bytes) {
  const auto stream = streams_.find(id);
  if (closed_ || stream == streams_.end() || !stream->second.replied || stream->second.local_finished) return false;
  if (growing_ == id) {
    // Small pieces that have to wait anyway go out together. The whole frame is reserved, because a string that grows
    // doubles its capacity.
    std::string& frame = output_.back();
    if (bytes.size() >= large_piece) frame.reserve(max_sent_data + head_size);
    const std::string_view piece = bytes.substr(0, max_sent_data + head_size - frame.size());
    append_data(frame, piece);
    pending_ += piece.size();
    bytes.remove_prefix(piece.size());
  }
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, max_sent_data);
    push(data_frame(id, 0, piece));
    growing_ = id;
    bytes.remove_prefix(piece.size());
  }
  return true;
}

void SpdySession::finish(std::uint32_t id) {
  const auto stream = streams_.find(id);
  if (closed_ || stream == streams_.end() || stream->second.local_finished) return;
  stream->second.local_finished = true;
  push(data_frame(id, flag_fin, {}));
  forget_if_done(stream);
}

void SpdySession::send_reset(std::uint32_t id, SpdyReset reason) {
  push(control_of_two(type_rst_stream, id, static_cast<std::uint32_t>(reason)));
}

void SpdySession::reset(std::uint32_t id, SpdyReset reason) {
  const auto stream = streams_.find(id);
  if (closed_ || stream == streams_.end()) return;
  send_reset(id, reason);
  if (!is_ours(id)) --peer_streams_;
  streams_.erase(stream);
}

std::uint32_t SpdySession::ping() {
  const std::uint32_t id = next_ping_;
  next_ping_ += 2;
  if (closed_ || urgent_.size() >= max_urgent) return id;
  std::string payload;
  put_u32(payload, id);
  push_urgent(control(type_ping, 0, payload));
  return id;
}

void SpdySession::close(SpdyGoAway reason) {
  if (closed_) return;
  for (const auto& [id, stream] : streams_) {
    if (!stream.local_finished) send_reset(id, SpdyReset::cancel);
  }
  push(control_of_two(type_goaway, last_received_, static_cast<std::uint32_t>(reason)));
  closed_ = true;
}

}  // namespace kube::wire
