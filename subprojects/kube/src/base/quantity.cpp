#include "kube/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace kube {
namespace {

__extension__ using Wide = __int128;
__extension__ using Unsigned = unsigned __int128;

constexpr Wide step = 1'000'000'000;  // of one whole
constexpr Wide max_nano = Wide(std::numeric_limits<std::int64_t>::max()) * step;
constexpr std::size_t max_text = 100;

struct Suffix {
  std::string_view text;
  int exponent;  ///< of ten, or of two
};
constexpr std::array<Suffix, 10> decimal_suffixes = {
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<Suffix, 6> binary_suffixes = {
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

struct Scale {
  Quantity::Format format;
  int exponent;
};

std::unexpected<Failure> no_quantity(std::string_view text) {
  return fail(Errc::parse, "\"" + std::string(text.substr(0, max_text)) + "\" is not a quantity");
}

bool read_scale(std::string_view suffix, Scale& scale) {
  for (const Suffix& known : decimal_suffixes)
    if (suffix == known.text) return scale = {Quantity::Format::decimal, known.exponent}, true;
  for (const Suffix& known : binary_suffixes)
    if (suffix == known.text) return scale = {Quantity::Format::binary, known.exponent}, true;
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return false;
  std::string_view digits = suffix.substr(1);
  const bool negative = digits[0] == '-';
  if (digits[0] == '-' || digits[0] == '+') digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  int exponent = 0;
  // A number that is too long for an int is far beyond every bound as well.
  if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc() || exponent > 1000)
    exponent = 1000;
  scale = {Quantity::Format::exponent, negative ? -exponent : exponent};
  return true;
}

/// The digits times ten to the power given, in steps; bounded, and rounded up. `digits` may have any length.
Wide scaled_by_ten(std::string_view digits, int power) {
  power += 9;  // steps
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  if (digits.empty()) return 0;
  if (int(digits.size()) + power > 30) return max_nano;
  const std::size_t kept = power >= 0 ? digits.size() : std::size_t(std::max(0, int(digits.size()) + power));
  Wide amount = 0;
  for (char c : digits.substr(0, kept)) amount = amount * 10 + (c - '0');
  for (int i = 0; i < power; ++i) amount *= 10;
  if (digits.substr(kept).find_first_not_of('0') != std::string_view::npos) ++amount;
  return std::min(amount, max_nano);
}

/// The digits with `fraction` of them after the point, times two to the power given, in steps; bounded, rounded up.
Wide scaled_by_two(std::string_view digits, int fraction, int power) {
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  if (digits.empty()) return 0;
  if (int(digits.size()) - fraction > 19) return max_nano;
  // The whole part and the fraction apart, so that nothing overflows: a fraction has at most 100 digits.
  const std::size_t whole_digits = std::size_t(std::max(0, int(digits.size()) - fraction));
  Unsigned whole = 0;
  for (char c : digits.substr(0, whole_digits)) whole = whole * 10 + Unsigned(c - '0');
  if (whole > (Unsigned(max_nano / step) >> power)) return max_nano;
  Unsigned amount = (whole << power) * Unsigned(step);
  // Long multiplication of 0.ddd... by 2^power * 10^9, digit by digit from the right, keeps the exact carry.
  std::string tail(digits.substr(whole_digits));
  tail.insert(0, std::size_t(std::max(0, fraction - int(digits.size()))), '0');
  const Unsigned factor = (Unsigned(1) << power) * Unsigned(step);
  Unsigned carry = 0;
  bool rest = false;
  for (std::size_t i = tail.size(); i-- > 0;) {
    const Unsigned product = Unsigned(tail[i] - '0') * factor + carry;
    carry = product / 10;
    rest = rest || product % 10 != 0;
  }
  amount += carry + (rest ? 1 : 0);
  return amount > Unsigned(max_nano) ? max_nano : Wide(amount);
}

std::string to_text(Wide number) {
  if (number == 0) return "0";
  const bool negative = number < 0;
  Unsigned rest = negative ? Unsigned(-number) : Unsigned(number);
  std::string digits;
  for (; rest > 0; rest /= 10) digits.insert(digits.begin(), char('0' + int(rest % 10)));
  return negative ? "-" + digits : digits;
}

/// `amount / unit`, away from zero.
Wide divide(Wide amount, Wide unit) {
  const Wide quotient = amount / unit;
  if (amount % unit == 0) return quotient;
  return amount > 0 ? quotient + 1 : quotient - 1;
}

}  // namespace

Quantity::Wide Quantity::bounded(Wide nano) { return nano > max_nano ? max_nano : nano < -max_nano ? -max_nano : nano; }

Quantity::Quantity(std::int64_t whole, Format format) : nano_(bounded(Wide(whole) * step)), format_(format) {}

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.empty() || text.size() > max_text) return no_quantity(text);
  std::string_view rest = text;
  const bool negative = rest[0] == '-';
  if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
  std::string digits;
  int fraction = 0;
  bool point = false;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '.') {
      if (point) return no_quantity(text);
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      if (point) ++fraction;
    } else {
      break;
    }
    rest.remove_prefix(1);
  }
  Scale scale{};
  if (digits.empty() || !read_scale(rest, scale)) return no_quantity(text);
  Quantity read;
  read.format_ = scale.format;
  const Wide amount = scale.format == Format::binary ? scaled_by_two(digits, fraction, scale.exponent)
                                                     : scaled_by_ten(digits, scale.exponent - fraction);
  read.nano_ = negative ? -amount : amount;
  return read;
}

Result<Quantity> Quantity::from_json(const json::value& value) {
  if (const auto* text = value.if_string()) return parse(*text);
  if (const auto* number = value.if_int64()) return Quantity(*number);
  if (const auto* number = value.if_uint64())
    return *number > std::uint64_t(INT64_MAX) ? Quantity(INT64_MAX) : Quantity(std::int64_t(*number));
  // A number with a fraction: its shortest decimal text is what was meant.
  if (value.is_double()) return parse(json::serialize(value));
  return fail(Errc::parse, "a quantity is a string or a number");
}

std::string Quantity::text() const {
  if (nano_ == 0) return "0";
  const bool small = nano_ > -1024 * step && nano_ < 1024 * step;
  if (format_ == Format::binary && !small && nano_ % step == 0) {
    Wide number = nano_ / step;
    std::string_view suffix;
    for (const Suffix& next : binary_suffixes) {
      if (number % 1024 != 0) break;
      number /= 1024;
      suffix = next.text;
    }
    return to_text(number) + std::string(suffix);
  }
  Wide number = nano_;
  int exponent = -9;
  while (number % 1000 == 0 && exponent < 18) {
    number /= 1000;
    exponent += 3;
  }
  if (format_ == Format::exponent) return to_text(number) + (exponent == 0 ? "" : "e" + std::to_string(exponent));
  return to_text(number) + std::string(decimal_suffixes[std::size_t((exponent + 9) / 3)].text);
}

std::string Quantity::readable() const {
  std::string out = text();
  if (out.ends_with('k')) out.replace(out.size() - 1, 1, "000");
  return out;
}

std::int64_t Quantity::value() const { return std::int64_t(divide(nano_, step)); }

Quantity Quantity::rounded_to_milli() const {
  Quantity rounded = *this;
  rounded.nano_ = bounded(divide(nano_, step / 1000) * (step / 1000));
  return rounded;
}

std::int64_t Quantity::milli_value() const {
  const Wide milli = divide(nano_, step / 1000);
  constexpr Wide highest = std::numeric_limits<std::int64_t>::max();
  return std::int64_t(milli > highest ? highest : milli < -highest ? -highest : milli);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  nano_ = bounded(nano_ + other.nano_);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  nano_ = bounded(nano_ - other.nano_);
  return *this;
}

Quantity& Quantity::operator*=(std::int64_t factor) {
  Wide product = 0;
  if (__builtin_mul_overflow(nano_, Wide(factor), &product))
    nano_ = (nano_ > 0) == (factor > 0) ? max_nano : -max_nano;
  else
    nano_ = bounded(product);
  return *this;
}

void QuantitySum::add(Quantity::Wide nano, Quantity::Format format) {
  if (is_zero()) format_ = format;
  nano_ += nano;
}

QuantitySum& QuantitySum::operator+=(const Quantity& part) {
  add(part.nano_, part.format_);
  return *this;
}

QuantitySum& QuantitySum::operator-=(const Quantity& part) {
  add(-part.nano_, part.format_);
  return *this;
}

QuantitySum& QuantitySum::operator+=(const QuantitySum& part) {
  add(part.nano_, part.format_);
  return *this;
}

QuantitySum& QuantitySum::operator-=(const QuantitySum& part) {
  add(-part.nano_, part.format_);
  return *this;
}

Quantity QuantitySum::total() const {
  Quantity total;
  total.nano_ = Quantity::bounded(nano_);
  total.format_ = format_;
  return total;
}

}  // namespace kube
