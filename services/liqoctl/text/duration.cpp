#include "text/duration.hpp"

namespace liqoctl::text {

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
