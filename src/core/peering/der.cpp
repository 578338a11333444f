#include "core/peering/der.hpp"

namespace liqo::core::der {

std::optional<Element> Reader::any() {
  const auto refuse = [this]() -> std::optional<Element> {
    broken_ = true;
    return std::nullopt;
  };
  if (broken_) return std::nullopt;
  if (rest_.size() < 2) return refuse();
  const auto byte = [this](std::size_t at) { return static_cast<std::uint8_t>(rest_[at]); };
  const std::uint8_t tag = byte(0);
  if ((tag & 0x1f) == 0x1f) return refuse();  // a tag of several bytes
  std::size_t header = 2;
  std::size_t length = byte(1);
  if (length >= 0x80) {
    const std::size_t count = length & 0x7f;
    if (count == 0 || count > 4 || rest_.size() < 2 + count || byte(2) == 0) return refuse();
    length = 0;
    for (std::size_t i = 0; i < count; ++i) length = length << 8 | byte(2 + i);
    if (length < 0x80) return refuse();
    header += count;
  }
  if (length > rest_.size() - header) return refuse();
  const Element found{.tag = tag, .content = rest_.substr(header, length), .whole = rest_.substr(0, header + length)};
  rest_.remove_prefix(header + length);
  return found;
}

std::optional<Element> Reader::take(std::uint8_t tag) {
  if (peek() != tag) {
    broken_ = true;
    return std::nullopt;
  }
  return any();
}

std::string element(std::uint8_t tag, std::string_view content) {
  std::string out(1, static_cast<char>(tag));
  if (content.size() < 0x80) {
    out += static_cast<char>(content.size());
  } else {
    std::string length;
    for (std::size_t left = content.size(); left > 0; left >>= 8)
      length.insert(length.begin(), static_cast<char>(left & 0xff));
    out += static_cast<char>(0x80 | length.size());
    out += length;
  }
  out += content;
  return out;
}

}  // namespace liqo::core::der
