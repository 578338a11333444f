#include "text/duration.hpp"

#include <charconv>

namespace liqoctl::text {

kube::Result<kube::Duration> parse_duration(std::string_view text) {
  const auto mistake =
      kube::fail(kube::Errc::invalid_input, "'" + std::string(text) + "' is no duration such as 2m or 90s");
  if (text.empty()) return mistake;
  double seconds = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!std::string_view("0123456789.").contains(rest.front())) return mistake;  // "inf", "-1s"
    double number = 0;
    const bool first = rest.size() == text.size();
    const auto [end, failure] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (failure != std::errc()) return mistake;
    rest.remove_prefix(std::size_t(end - rest.data()));
    const std::size_t letters = std::min(rest.find_first_of("0123456789."), rest.size());
    const std::string_view unit = rest.substr(0, letters);
    rest.remove_prefix(letters);
    const double scale = unit == "ms"                             ? 1e-3
                         : unit == "s" || (unit.empty() && first) ? 1
                         : unit == "m"                            ? 60
                         : unit == "h"                            ? 3600
                                                                  : -1;
    if (scale < 0) return mistake;
    seconds += number * scale;
    if (seconds > 1e7) return mistake;
  }
  return kube::Duration(std::int64_t(seconds * 1e9));
}

std::string age(kube::Duration passed) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  const auto two = [](std::int64_t big, const char* unit, std::int64_t small, const char* smaller) {
    return std::to_string(big) + unit + (small > 0 ? std::to_string(small) + smaller : "");
  };
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  return std::to_string(hours / 24) + "d";
}

std::string age_of(std::string_view created, kube::WallTime now) {
  const auto time = kube::parse_time(created);
  return time ? age(now - *time) : "<unknown>";
}

}  // namespace liqoctl::text
