// Times of any year, as hostile peers and careless programs write them, and arithmetic with them.
#include <doctest/doctest.h>

#include "kube/base/near_time.hpp"

using namespace kube;
using namespace std::chrono;

namespace {

std::string read(std::string_view text) {
  const auto time = parse_time(text);
  return time ? format_micro_time(*time) : "error: " + time.error().text();
}

}  // namespace

TEST_CASE("times are read with any fraction and offset") {
  struct Case {
    const char *text, *read;
  };
  const Case cases[] = {
      {"2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000000Z"},
      {"2026-11-21t10:00:00.5z", "2026-11-21T10:00:00.500000Z"},
      {"2026-11-21T10:00:00.123456789123456789Z", "2026-11-21T10:00:00.123456Z"},
      {"2026-11-21T10:00:00+23:59", "2026-11-20T10:01:00.000000Z"},
      {"2026-11-21T10:00:00-23:59", "2026-11-22T09:59:00.000000Z"},
      // A leap second is the first one of the next minute.
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"},
      {"2016-12-31T23:59:60.999999Z", "2017-01-01T00:00:00.999999Z"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(read(c.text) == c.read);
  }
  for (const char* text :
       {"", "2026-11-21", "2026-11-21T10:00:00", "2026-11-21T10:00:61Z", "2026-02-29T10:00:00Z", "2026-13-01T10:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+1:00",
        "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "2026-11-21T10:00:00ZZ"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text));
  }
}

TEST_CASE("a time of long ago or far ahead is the end of what can be reckoned with") {
  struct Case {
    const char* text;
    WallTime read;
  };
  const Case cases[] = {
      {"0000-01-01T00:00:00+23:59", earliest_near_time}, {"0001-01-01T00:00:00Z", earliest_near_time},
      {"1600-02-29T12:00:00Z", earliest_near_time},      {"1677-09-21T00:12:43Z", earliest_near_time},
      {"1969-12-31T23:59:60Z", earliest_near_time},      {"1970-01-01T00:00:01Z", earliest_near_time + 1s},
      {"2199-12-31T23:59:59Z", latest_near_time - 1s},   {"2262-04-11T23:47:17Z", latest_near_time},
      {"2300-01-01T00:00:00Z", latest_near_time},        {"9999-12-31T23:59:60.999999-23:59", latest_near_time},
  };
  const WallTime now = *parse_time("2026-11-21T10:00:00Z");
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const auto time = parse_time(c.text);
    REQUIRE(time);
    CHECK(*time == c.read);
    // In nanoseconds, as everything that waits.
    CHECK(duration_cast<seconds>(Duration(now - *time) + Duration(*time - now)) == 0s);
    CHECK((Duration(now - *time) > Duration(0)) == (*time < now));
    for (const WallTime end : {earliest_near_time, latest_near_time})
      CHECK(duration_cast<WallTime::duration>(Duration(end - *time)) == end - *time);
    const auto later = time_point<system_clock, Duration>(*time) + years(50);
    CHECK(later > *time);
  }
}

TEST_CASE("the clock of a server may tell any year") {
  CHECK(*parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == *parse_time("1994-11-06T08:49:37Z"));
  CHECK(*parse_http_date("Mon, 01 Jan 0001 00:00:00 GMT") == earliest_near_time);
  CHECK(*parse_http_date("Fri, 31 Dec 9999 23:59:60 GMT") == latest_near_time);
  CHECK_FALSE(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"));
}

TEST_CASE("a time that was never read is brought near by itself") {
  CHECK(near_time(WallTime::max()) == latest_near_time);
  CHECK(near_time(WallTime::min()) == earliest_near_time);
  const WallTime now = *parse_time("2026-11-21T10:00:00Z");
  CHECK(near_time(now) == now);
}
