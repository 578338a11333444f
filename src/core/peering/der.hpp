// The part of DER (X.690) that certificate requests and certificates need: a strict reader and a writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liqo::core::der {

inline constexpr std::uint8_t integer = 0x02, bit_string = 0x03, octet_string = 0x04, null = 0x05, object_id = 0x06,
                              utf8_string = 0x0c, printable_string = 0x13, utc_time = 0x17, generalized_time = 0x18,
                              sequence = 0x30, set = 0x31, context_0 = 0xa0;

/// One element. The views live as long as the bytes that were read.
struct Element {
  std::uint8_t tag = 0;
  std::string_view content;  ///< without tag and length
  std::string_view whole;    ///< with them
};

/// Takes elements off the front of some bytes. What is not DER (long tags, indefinite or needlessly long lengths, a
/// length past the end) is the end of reading: nothing is answered from then on. Never throws.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return !broken_ && rest_.empty(); }
  /// The next element, whatever it is.
  std::optional<Element> any();
  /// The next element if it has that tag.
  std::optional<Element> take(std::uint8_t tag);
  /// The tag of the next element, 0 at the end.
  std::uint8_t peek() const { return rest_.empty() || broken_ ? 0 : static_cast<std::uint8_t>(rest_.front()); }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

/// Tag, length and content.
std::string element(std::uint8_t tag, std::string_view content);

}  // namespace liqo::core::der
