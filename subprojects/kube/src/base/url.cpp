#include "kube/base/url.hpp"

namespace kube {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view encoded, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (encoded[i] != '%') {
      out.push_back(encoded[i]);
    } else {
      if (i + 2 >= encoded.size()) return std::nullopt;
      const int high = hex_digit(encoded[i + 1]);
      const int low = hex_digit(encoded[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

RequestTarget& RequestTarget::add(std::string_view name, std::string_view value) {
  text_ += separator_;
  separator_ = '&';
  text_.append(name).append("=").append(percent_encode(value));
  return *this;
}

}  // namespace kube
