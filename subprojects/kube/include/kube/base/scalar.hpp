// Whole numbers and truth values that somebody wrote as text.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace kube {

/// The decimal number that is the whole text, with a minus sign or none; nothing where it is no number, has something
/// before or behind it, or does not fit.
template <std::integral Number>
std::optional<Number> read_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

/// The truth value in one of the spellings that Go takes (strconv.ParseBool): 1, t, T, true, True and TRUE, or 0 and
/// the like; nothing where it is in none.
std::optional<bool> read_bool(std::string_view text);

}  // namespace kube
