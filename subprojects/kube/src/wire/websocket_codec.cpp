#include "kube/wire/websocket_codec.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "big_endian.hpp"
#include "frame_limits.hpp"
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

bool is_control(std::uint8_t opcode) { return (opcode & 0x8) != 0; }

/// Puts the mask on bytes, or takes it off; `offset`: how many of the payload came before them. Word by word, since all
/// that is written to a provider passes here.
void apply_mask(std::span<char> bytes, std::uint32_t mask, std::size_t offset) {
  std::array<char, 8> key;
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<char>((mask >> (24 - 8 * ((offset + i) % 4))) & 0xff);
  std::uint64_t word_key = 0;
  std::memcpy(&word_key, key.data(), sizeof(word_key));
  std::size_t at = 0;
  for (; at + sizeof(word_key) <= bytes.size(); at += sizeof(word_key)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    word ^= word_key;
    std::memcpy(bytes.data() + at, &word, sizeof(word));
  }
  for (std::size_t i = 0; at < bytes.size(); ++at, ++i) bytes[at] = static_cast<char>(bytes[at] ^ key[i]);
}

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

WebSocketCodec::WebSocketCodec(WebSocketRole role, std::function<std::uint32_t()> mask, std::uint64_t max_message)
    : role_(role), mask_source_(std::move(mask)), max_message_(max_message) {}

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
    KUBE_TRYV(start_frame());
    in_payload_ = true;
  }
  const auto opcode = static_cast<std::uint8_t>(head_[0] & 0x0f);
  const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), missing_));
  std::string_view part = bytes.substr(0, take);
  bytes.remove_prefix(take);
  missing_ -= take;
  std::string unmasked;
  if (role_ == WebSocketRole::server) {
    unmasked = part;
    apply_mask(unmasked, mask_, mask_offset_);
    mask_offset_ += take;
    part = unmasked;
  }
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
  if (message_size_ > max_message_ || missing_ > max_message_) {
    return fail(Errc::too_large, "WebSocket message of more than " + std::to_string(max_message_) + " bytes");
  }
  return {};
}

void WebSocketCodec::piece(std::string_view bytes, bool last) {
  emit({.kind = WebSocketEvent::Kind::message, .bytes = bytes, .first = first_piece_, .last = last, .text = text_});
  first_piece_ = false;
  if (last) in_message_ = false;
}

void WebSocketCodec::emit(const WebSocketSight& sight) {
  if (sink_) return sink_(sight);
  events_.push_back({.kind = sight.kind,
                     .bytes = std::string(sight.bytes),
                     .first = sight.first,
                     .last = sight.last,
                     .text = sight.text,
                     .code = sight.code});
}

Result<void> WebSocketCodec::control_ended() {
  switch (static_cast<std::uint8_t>(head_[0] & 0x0f)) {
    case opcode_ping:
      if (!closed_ && urgent_.size() < max_urgent) {
        urgent_.push_back(frame(opcode_pong, payload_));
        pending_ += urgent_.back().size();
      }
      return {};
    case opcode_pong:
      emit({.kind = WebSocketEvent::Kind::pong, .bytes = payload_});
      return {};
    default:
      break;
  }
  if (payload_.size() == 1) return fail(Errc::protocol, "WebSocket close frame of one byte");
  const auto code = payload_.empty() ? no_close_code : static_cast<std::uint16_t>(get_uint(payload_, 0, 2));
  if (!payload_.empty() && code < 1000) return fail(Errc::protocol, "WebSocket close code below 1000");
  emit({.kind = WebSocketEvent::Kind::close,
        .bytes = std::string_view(payload_).substr(std::min<std::size_t>(2, payload_.size())),
        .code = code});
  peer_closed_ = true;
  close(WebSocketClose::normal);
  return {};
}

std::string WebSocketCodec::frame(std::uint8_t opcode, std::string_view first, std::string_view second) {
  const bool masked = role_ == WebSocketRole::client;
  const std::size_t size = first.size() + second.size();
  std::string out;
  out.reserve(size + 14);
  out.push_back(static_cast<char>(0x80 | opcode));
  const std::uint8_t mask_bit = masked ? 0x80 : 0;
  if (size < 126) {
    out.push_back(static_cast<char>(mask_bit | size));
  } else if (size < 0x10000) {
    out.push_back(static_cast<char>(mask_bit | 126));
    put_u16(out, static_cast<std::uint16_t>(size));
  } else {
    out.push_back(static_cast<char>(mask_bit | 127));
    put_u64(out, size);
  }
  const std::uint32_t mask = masked ? mask_source_() : 0;
  if (masked) put_u32(out, mask);
  const std::size_t head = out.size();
  out.append(first).append(second);
  if (masked) apply_mask(std::span(out).subspan(head), mask, 0);
  return out;
}

std::optional<WebSocketEvent> WebSocketCodec::next() { return take_first(events_); }

std::optional<std::string> WebSocketCodec::next_output() {
  auto out = take_first(urgent_.empty() ? output_ : urgent_);
  if (out) pending_ -= out->size();
  return out;
}

void WebSocketCodec::send_parts(std::string_view first, std::string_view second, bool text) {
  if (closed_) return;
  output_.push_back(frame(text ? opcode_text : opcode_binary, first, second));
  pending_ += output_.back().size();
}

void WebSocketCodec::ping(std::string_view payload) {
  if (closed_ || urgent_.size() >= max_urgent) return;
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
