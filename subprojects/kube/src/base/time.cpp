#include "kube/base/time.hpp"

#include <array>
#include <cstdio>

#include "kube/base/near_time.hpp"

namespace kube {
namespace {

std::string format_civil(WallTime time, bool micros) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss<microseconds> clock{time - day};
  std::array<char, 48> text{};
  int length = std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", int(date.year()),
                             unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                             int(clock.minutes().count()), int(clock.seconds().count()));
  std::string out(text.data(), std::size_t(length));
  if (micros) {
    length = std::snprintf(text.data(), text.size(), ".%06d", int(clock.subseconds().count()));
    out.append(text.data(), std::size_t(length));
  }
  return out + "Z";
}

/// Reads exactly `count` digits from the front of `text`.
bool digits(std::string_view& text, std::size_t count, int& out) {
  if (text.size() < count) return false;
  out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}
bool literal(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string format_time(WallTime time) { return format_civil(time, false); }
std::string format_micro_time(WallTime time) { return format_civil(time, true); }

Result<WallTime> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto bad = [whole = std::string(text.substr(0, 64))] {
    return fail(Errc::parse, "\"" + whole + "\" is not an RFC 3339 time");
  };
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  if (!digits(text, 4, y) || !literal(text, '-') || !digits(text, 2, mo) || !literal(text, '-') ||
      !digits(text, 2, d) || !(literal(text, 'T') || literal(text, 't')) || !digits(text, 2, h) ||
      !literal(text, ':') || !digits(text, 2, mi) || !literal(text, ':') || !digits(text, 2, s))
    return bad();
  const year_month_day date{year{y}, month{unsigned(mo)}, day{unsigned(d)}};
  if (!date.ok() || h > 23 || mi > 59 || s > 60) return bad();
  int micros = 0;
  if (literal(text, '.')) {
    int scale = 100'000;
    if (text.empty() || text.front() < '0' || text.front() > '9') return bad();
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      micros += (text.front() - '0') * scale;
      scale /= 10;
      text.remove_prefix(1);
    }
  }
  minutes offset{0};
  if (!literal(text, 'Z') && !literal(text, 'z')) {
    if (text.empty() || (text.front() != '+' && text.front() != '-')) return bad();
    const int sign = text.front() == '+' ? 1 : -1;
    text.remove_prefix(1);
    int oh = 0, om = 0;
    if (!digits(text, 2, oh) || !literal(text, ':') || !digits(text, 2, om) || oh > 23 || om > 59) return bad();
    offset = minutes{sign * (oh * 60 + om)};
  }
  if (!text.empty()) return bad();
  return near_time(WallTime{sys_days{date}} + hours{h} + minutes{mi} + seconds{s} + microseconds{micros} - offset);
}

Result<WallTime> parse_http_date(std::string_view text) {
  using namespace std::chrono;
  const auto bad = [whole = std::string(text.substr(0, 64))] {
    return fail(Errc::parse, "\"" + whole + "\" is not a date of HTTP");
  };
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int d = 0, y = 0, h = 0, mi = 0, s = 0;
  const std::size_t comma = text.find(',');
  if (comma != 3) return bad();
  text.remove_prefix(comma + 1);
  if (!literal(text, ' ') || !digits(text, 2, d) || !literal(text, ' ')) return bad();
  const std::size_t month = months.find(text.substr(0, 3));
  if (text.size() < 3 || month == std::string_view::npos || month % 3 != 0) return bad();
  text.remove_prefix(3);
  if (!literal(text, ' ') || !digits(text, 4, y) || !literal(text, ' ') || !digits(text, 2, h) || !literal(text, ':') ||
      !digits(text, 2, mi) || !literal(text, ':') || !digits(text, 2, s) || text != " GMT")
    return bad();
  const year_month_day date{year{y}, std::chrono::month{unsigned(month / 3 + 1)}, day{unsigned(d)}};
  if (!date.ok() || h > 23 || mi > 59 || s > 60) return bad();
  return near_time(WallTime{sys_days{date}} + hours{h} + minutes{mi} + seconds{s});
}

}  // namespace kube
