// Numbers in network byte order, for the codecs of this room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kube::wire {

inline void put_u16(std::string& out, std::uint16_t value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value & 0xff));
}

inline void put_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

inline void put_u64(std::string& out, std::uint64_t value) {
  put_u32(out, static_cast<std::uint32_t>(value >> 32));
  put_u32(out, static_cast<std::uint32_t>(value & 0xffffffff));
}

/// The number in the first `width` bytes of `bytes` at `offset`; the caller has checked that they are there.
inline std::uint64_t get_uint(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[offset + i]);
  return value;
}

inline std::uint32_t get_u32(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(get_uint(bytes, offset, 4));
}

}  // namespace kube::wire
