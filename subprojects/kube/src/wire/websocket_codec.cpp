#include "kube/wire/websocket_codec.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "big_endian.hpp"
#include "kube/base/base64.hpp"
#include "take_first.hpp"

namespace kube::wire {
namespace {

constexpr std::uint8_t opcode_continuation = 0x0;
constexpr std::uint8_t opcode_text = 0x1;
constexpr std::uint8_t opcode_binary = 0x2;
constexpr std::uint8_t opcode_close = 0x8;
constexpr std::uint8_t opcode_ping = 0x9;
constexpr std::uint8_t opcode_pong = 0xa;
constexpr std::uint16_t no_close_code = 1005;
// More answers than this are not queued: a peer that floods us with pings and does not read gets fewer.
constexpr std::size_t urgent_limit = 64;

bool is_control(std::uint8_t opcode) { return (opcode & 0x8) != 0; }

}  // namespace

std::string websocket_accept(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return encode_base64({reinterpret_cast<const char*>(digest.data()), size});
}

bool is_websocket_key(std::string_view key) {
  const auto bytes = decode_base64(key);
  return bytes && bytes->size() == 16 && key.size() == 24;
}

WebSocketCodec::WebSocketCodec(WebSocketRole role, std::function<std::uint32_t()> mask, std::uint64_t message_limit)
    : role_(role), mask_source_(std::move(mask)), message_limit_(message_limit) {}

Result<void> WebSocketCodec::feed(std::string_view bytes) {
  // After its close frame nothing of the peer counts.
  while (!failure_ && !peer_closed_ && !bytes.empty()) {
    if (auto done = consume(bytes); !done) {
      close(done.error().code() == Errc::too_large ? WebSocketClose::too_big : WebSocketClose::protocol_error);
      failure_ = std::move(done.error());
    }
  }
  if (failure_) return std::unexpected(*failure_);
  return {};
}

Result<void> WebSocketCodec::consume(std::string_view& bytes) {
  if (!in_payload_) {
    const std::size_t take = std::min(bytes.size(), head_size_ - head_.size());
    head_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    if (head_.size() < head_size_) return {};
    if (head_size_ == 2) {
      const auto second = static_cast<std::uint8_t>(head_[1]);
      const std::uint8_t length = second & 0x7f;
      head_size_ += length == 126 ? 2 : length == 127 ? 8 : 0;
      head_size_ += (second & 0x80) != 0 ? 4 : 0;
      if (head_size_ > 2) return {};
    }
    if (auto started = start_frame(); !started) return started;
    in_payload_ = true;
  }
  const auto opcode = static_cast<std::uint8_t>(head_[0] & 0x0f);
  const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), missing_));
  std::string part(bytes.substr(0, take));
  bytes.remove_prefix(take);
  missing_ -= take;
  unmask(part);
  Result<void> done;
  if (is_control(opcode)) {
    payload_ += part;
    if (missing_ == 0) done = control_ended();
  } else if (!part.empty() || missing_ == 0) {
    piece(part, missing_ == 0 && (head_[0] & 0x80) != 0);
  }
  if (missing_ > 0) return done;
  head_.clear();
  head_size_ = 2;
  payload_.clear();
  in_payload_ = false;
  return done;
}

Result<void> WebSocketCodec::start_frame() {
  const auto first = static_cast<std::uint8_t>(head_[0]);
  const auto second = static_cast<std::uint8_t>(head_[1]);
  const std::uint8_t opcode = first & 0x0f;
  const bool fin = (first & 0x80) != 0;
  const bool masked = (second & 0x80) != 0;
  if ((first & 0x70) != 0) return fail(Errc::protocol, "WebSocket frame with a reserved bit");
  if (masked != (role_ == WebSocketRole::server)) {
    return fail(Errc::protocol,
                masked ? "WebSocket server sent a masked frame" : "WebSocket client sent an unmasked frame");
  }
  const std::uint8_t length = second & 0x7f;
  missing_ = length;
  std::size_t offset = 2;
  if (length == 126) {
    missing_ = get_uint(head_, 2, 2);
    offset = 4;
    if (missing_ < 126) return fail(Errc::protocol, "WebSocket length is not in its shortest form");
  } else if (length == 127) {
    missing_ = get_uint(head_, 2, 8);
    offset = 10;
    if (missing_ < 0x10000 || (missing_ >> 63) != 0) return fail(Errc::protocol, "WebSocket length of a wrong form");
  }
  mask_ = masked ? get_u32(head_, offset) : 0;
  mask_offset_ = 0;

  if (is_control(opcode)) {
    if (opcode > opcode_pong) return fail(Errc::protocol, "WebSocket frame of unknown type");
    if (!fin || missing_ > 125) return fail(Errc::protocol, "WebSocket control frame is fragmented or too long");
    return {};
  }
  if (opcode > opcode_binary) return fail(Errc::protocol, "WebSocket frame of unknown type");
  if ((opcode == opcode_continuation) != in_message_) {
    return fail(Errc::protocol, in_message_ ? "WebSocket message inside another" : "WebSocket continuation of nothing");
  }
  if (!in_message_) {
    in_message_ = true;
    first_piece_ = true;
    text_ = opcode == opcode_text;
    message_size_ = 0;
  }
  message_size_ += missing_;
  if (message_size_ > message_limit_ || missing_ > message_limit_) {
    return fail(Errc::too_large, "WebSocket message of more than " + std::to_string(message_limit_) + " bytes");
  }
  return {};
}

void WebSocketCodec::piece(std::string_view bytes, bool last) {
  events_.push_back({.kind = WebSocketEvent::Kind::message,
                     .bytes = std::string(bytes),
                     .first = first_piece_,
                     .last = last,
                     .text = text_});
  first_piece_ = false;
  if (last) in_message_ = false;
}

Result<void> WebSocketCodec::control_ended() {
  switch (static_cast<std::uint8_t>(head_[0] & 0x0f)) {
    case opcode_ping:
      if (!closed_ && urgent_.size() < urgent_limit) {
        urgent_.push_back(frame(opcode_pong, payload_));
        pending_ += urgent_.back().size();
      }
      return {};
    case opcode_pong:
      events_.push_back({.kind = WebSocketEvent::Kind::pong, .bytes = payload_});
      return {};
    default:
      break;
  }
  if (payload_.size() == 1) return fail(Errc::protocol, "WebSocket close frame of one byte");
  const auto code = payload_.empty() ? no_close_code : static_cast<std::uint16_t>(get_uint(payload_, 0, 2));
  if (!payload_.empty() && code < 1000) return fail(Errc::protocol, "WebSocket close code below 1000");
  events_.push_back({.kind = WebSocketEvent::Kind::close,
                     .bytes = payload_.size() > 2 ? payload_.substr(2) : std::string(),
                     .code = code});
  peer_closed_ = true;
  close(WebSocketClose::normal);
  return {};
}

void WebSocketCodec::unmask(std::string& bytes) {
  if (role_ == WebSocketRole::client) return;
  for (char& c : bytes) {
    const std::uint32_t shift = 24 - 8 * static_cast<std::uint32_t>(mask_offset_ % 4);
    c = static_cast<char>(static_cast<unsigned char>(c) ^ ((mask_ >> shift) & 0xff));
    ++mask_offset_;
  }
}

std::string WebSocketCodec::frame(std::uint8_t opcode, std::string_view payload) {
  const bool masked = role_ == WebSocketRole::client;
  std::string out;
  out.reserve(payload.size() + 14);
  out.push_back(static_cast<char>(0x80 | opcode));
  const std::uint8_t mask_bit = masked ? 0x80 : 0;
  if (payload.size() < 126) {
    out.push_back(static_cast<char>(mask_bit | payload.size()));
  } else if (payload.size() < 0x10000) {
    out.push_back(static_cast<char>(mask_bit | 126));
    put_u16(out, static_cast<std::uint16_t>(payload.size()));
  } else {
    out.push_back(static_cast<char>(mask_bit | 127));
    put_u64(out, payload.size());
  }
  if (!masked) return out.append(payload);
  const std::uint32_t mask = mask_source_();
  put_u32(out, mask);
  std::uint32_t shift = 24;
  for (const char c : payload) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(c) ^ ((mask >> shift) & 0xff)));
    shift = shift == 0 ? 24 : shift - 8;
  }
  return out;
}

std::optional<WebSocketEvent> WebSocketCodec::next() { return take_first(events_); }

std::optional<std::string> WebSocketCodec::next_output() {
  auto out = take_first(urgent_.empty() ? output_ : urgent_);
  if (out) pending_ -= out->size();
  return out;
}

void WebSocketCodec::send(std::string_view message, bool text) {
  if (closed_) return;
  output_.push_back(frame(text ? opcode_text : opcode_binary, message));
  pending_ += output_.back().size();
}

void WebSocketCodec::ping(std::string_view payload) {
  if (closed_ || urgent_.size() >= urgent_limit) return;
  urgent_.push_back(frame(opcode_ping, payload.substr(0, 125)));
  pending_ += urgent_.back().size();
}

void WebSocketCodec::close(WebSocketClose code, std::string_view reason) {
  if (closed_) return;
  std::string payload;
  put_u16(payload, static_cast<std::uint16_t>(code));
  payload += reason.substr(0, 123);
  output_.push_back(frame(opcode_close, payload));
  pending_ += output_.back().size();
  closed_ = true;
}

}  // namespace kube::wire
