// Amounts of resources as Kubernetes writes them ("250m", "1536Mi", "12e6"): exact, bounded, with canonical text.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/base/json.hpp"

namespace kube {

/// A fixed-point number in steps of 10^-9 with the family of suffixes it is written in. Magnitudes are at most 2^63 -
/// 1, and larger ones become that. What is finer than a step is rounded away from zero. Trivially copyable.
class Quantity {
 public:
  enum class Format : std::uint8_t {
    decimal,   ///< n u m "" k M G T P E
    binary,    ///< Ki Mi Gi Ti Pi Ei
    exponent,  ///< e3, e-6
  };

  Quantity() = default;
  /// A whole number.
  explicit Quantity(std::int64_t whole, Format format = Format::decimal);

  /// Reads a sign, digits with an optional fraction, and a suffix or exponent. Errors: Errc::parse for anything else,
  /// also surrounding space, and for more than 100 characters.
  static Result<Quantity> parse(std::string_view text);
  /// Reads a string or a number (int-or-string fields). Errors as `parse`.
  static Result<Quantity> from_json(const json::value& value);

  /// The canonical text: no fraction, the largest suffix that keeps the number whole ("1.5Gi" is "1536Mi"). A binary
  /// amount that is not whole, or below 1024, is written in decimal form.
  std::string text() const;
  /// The canonical text with thousands in digits, for sentences: "1000" instead of "1k".
  std::string readable() const;

  Format format() const { return format_; }
  bool is_zero() const { return nano_ == 0; }
  /// -1, 0 or 1.
  int sign() const { return nano_ > 0 ? 1 : nano_ < 0 ? -1 : 0; }
  /// The whole number, rounded away from zero.
  std::int64_t value() const;
  /// In thousandths, rounded away from zero and bounded to 64 bits.
  std::int64_t milli_value() const;
  /// The amount in whole thousandths, rounded away from zero: the API server keeps no finer ones in pods.
  Quantity rounded_to_milli() const;

  /// Bounded like everything else. The sum of an empty quantity takes the other's format.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(std::int64_t factor);
  friend Quantity operator+(Quantity left, const Quantity& right) { return left += right; }
  friend Quantity operator-(Quantity left, const Quantity& right) { return left -= right; }
  friend Quantity operator*(Quantity left, std::int64_t factor) { return left *= factor; }

  /// Amounts compare by value, however they are written.
  friend bool operator==(const Quantity& left, const Quantity& right) { return left.nano_ == right.nano_; }
  friend std::strong_ordering operator<=>(const Quantity& left, const Quantity& right) {
    return left.nano_ < right.nano_   ? std::strong_ordering::less
           : left.nano_ > right.nano_ ? std::strong_ordering::greater
                                      : std::strong_ordering::equal;
  }

 private:
  friend class QuantitySum;
  __extension__ using Wide = __int128;
  static Wide bounded(Wide nano);
  Wide nano_ = 0;
  Format format_ = Format::decimal;
};

/// A sum of up to 2^33 quantities from which any of them can be subtracted again exactly, which is not so of a Quantity
/// at its bound. Trivially copyable.
class QuantitySum {
 public:
  QuantitySum& operator+=(const Quantity& part);
  QuantitySum& operator-=(const Quantity& part);
  QuantitySum& operator+=(const QuantitySum& part);
  QuantitySum& operator-=(const QuantitySum& part);

  bool is_zero() const { return nano_ == 0; }
  /// The sum, bounded as every Quantity is, in the format of the first quantity that was added to an empty sum.
  Quantity total() const;

 private:
  void add(Quantity::Wide nano, Quantity::Format format);
  Quantity::Wide nano_ = 0;
  Quantity::Format format_ = Quantity::Format::decimal;
};

}  // namespace kube
