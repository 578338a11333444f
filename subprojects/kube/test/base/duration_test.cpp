#include "kube/base/duration.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("durations are read as Go writes them") {
  struct Case {
    const char* text;
    Duration expected;
  };
  for (const Case& one : {Case{"90s", 90s}, Case{"2m", 2min}, Case{"1m30s", 90s}, Case{"2m0s", 2min}, Case{"1h", 1h},
                          Case{"500ms", 500ms}, Case{"7", 7s}, Case{"1.5m", 90s}, Case{"0s", 0s}}) {
    CAPTURE(one.text);
    const auto parsed = parse_duration(one.text);
    REQUIRE(parsed);
    CHECK(*parsed == one.expected);
  }
  for (const char* wrong : {"", "s", "-1s", "1x", "1m30", "1.5.5s", "2 m", "1e9s", "999999999h", "nan", "inf"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong));
  }
}
