// Ways to cut a recording: codecs must understand it whole, byte by byte, and split at each position.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::test {

/// Bytes from hexadecimal digits; spaces are skipped.
inline std::string from_hex(std::string_view hex) {
  std::string out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ' || c == '\n') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<char>(high * 16 + digit));
      high = -1;
    }
  }
  return out;
}

inline std::string to_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
  }
  return out;
}

/// Calls `feed` with each way to cut the recording.
template <class Feed>
void in_every_cut(std::string_view recording, Feed feed) {
  feed(std::vector<std::string_view>{recording});
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < recording.size(); ++i) single.push_back(recording.substr(i, 1));
  feed(single);
  for (std::size_t i = 1; i < recording.size(); ++i) {
    feed(std::vector<std::string_view>{recording.substr(0, i), recording.substr(i)});
  }
}

}  // namespace kube::test
