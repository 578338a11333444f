// Whole numbers and booleans that are written as text.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace kube {

/// The decimal number that is the whole text, with a minus sign or none. Nothing if the text is no number, has
/// something before or after it, or does not fit.
template <std::integral Number>
std::optional<Number> read_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

/// The boolean in one of the spellings that Go takes (strconv.ParseBool): 1, t, T, true, True and TRUE, or 0 and the
/// like. Nothing for any other text.
std::optional<bool> read_bool(std::string_view text);

}  // namespace kube
