// How far a server's clock is from ours.
#include "kube/client/server_clock.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("the Date of HTTP is read in the one form that is sent") {
  CHECK(format_time(*parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")) == "1994-11-06T08:49:37Z");
  CHECK(format_time(*parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT")) == "2024-03-01T00:00:00Z");
  for (const char* bad :
       {"", "Sun", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_http_date(bad).has_value());
  }
}

TEST_CASE("a clock is said to be as far off as the answer's own time does not explain") {
  const auto at = [](std::string_view time) { return *parse_time(time); };
  struct Row {
    std::string_view title, sent, received, date;
    std::chrono::seconds ahead;
  };
  for (const Row& row : {
           Row{"the same", "2026-11-21T10:00:00.7Z", "2026-11-21T10:00:00.8Z", "Sat, 21 Nov 2026 10:00:00 GMT", 0s},
           Row{"an hour ahead", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.2Z", "Sat, 21 Nov 2026 11:00:01 GMT",
               3600s},
           Row{"an hour behind", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.2Z", "Sat, 21 Nov 2026 08:59:59 GMT",
               -3600s},
           Row{"this process stood still while the answer lay there", "2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z",
               "Sat, 21 Nov 2026 10:00:00 GMT", 0s},
           Row{"the server took its time", "2026-11-21T10:00:00Z", "2026-11-21T10:05:00Z",
               "Sat, 21 Nov 2026 10:05:00 GMT", 0s},
       }) {
    CAPTURE(row.title);
    ServerClock clock;
    CHECK_FALSE(clock.ahead().has_value());
    CHECK(clock.observe(row.date, at(row.sent), at(row.received), TimePoint()));
    CHECK(clock.ahead() == row.ahead);
  }
}

TEST_CASE("one answer in half a minute is looked at, and one without a Date is none") {
  const WallTime now = *parse_time("2026-11-21T10:00:00Z");
  ServerClock clock;
  CHECK_FALSE(clock.observe("", now, now, TimePoint()));
  CHECK_FALSE(clock.observe("yesterday", now, now, TimePoint()));
  CHECK(clock.observe("Sat, 21 Nov 2026 10:00:00 GMT", now, now, TimePoint() + 1s));
  CHECK_FALSE(clock.observe("Sat, 21 Nov 2026 11:00:00 GMT", now, now, TimePoint() + 30s));
  CHECK(clock.ahead() == 0s);
  CHECK(clock.observe("Sat, 21 Nov 2026 11:00:00 GMT", now, now, TimePoint() + 31s));
  CHECK(clock.ahead() == 3600s);
}
