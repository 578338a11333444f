#include "kube/base/duration.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace kube {

Result<Duration> parse_duration(std::string_view text) {
  const auto mistake = fail(Errc::invalid_input, "'" + std::string(text) + "' is not a duration such as 2m or 90s");
  if (text.empty()) return mistake;
  double seconds = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!std::string_view("0123456789.").contains(rest.front())) return mistake;  // "inf", "-1s"
    double number = 0;
    const bool is_first = rest.size() == text.size();
    const auto [end, failure] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (failure != std::errc()) return mistake;
    rest.remove_prefix(std::size_t(end - rest.data()));
    const std::size_t letters = std::min(rest.find_first_of("0123456789."), rest.size());
    const std::string_view unit = rest.substr(0, letters);
    rest.remove_prefix(letters);
    const bool is_seconds = unit == "s" || (unit.empty() && is_first && rest.empty());
    const double scale = unit == "ms" ? 1e-3 : is_seconds ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : -1;
    if (scale < 0) return mistake;
    seconds += number * scale;
    if (seconds > 1e7) return mistake;
  }
  return Duration(std::int64_t(seconds * 1e9));
}

}  // namespace kube
