// One line for an outage, and few for what fails again and again.
#include <doctest/doctest.h>

#include "kube/runtime/outage.hpp"
#include "kube/telemetry/repeats.hpp"

namespace {

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("of many that cannot reach a server the first tells, and the last that can again") {
  Outage outage;
  const int a = 0, b = 0;
  CHECK(outage.begin(&a));
  CHECK_FALSE(outage.begin(&a));
  CHECK_FALSE(outage.begin(&b));
  CHECK_FALSE(outage.end(&a));
  CHECK(outage.end(&b));
  CHECK_FALSE(outage.end(&b));
  CHECK(outage.begin(&b));
}

TEST_CASE("an answer is no outage") {
  CHECK(Outage::is_one(Failure(Errc::connect, "refused")));
  CHECK(Outage::is_one(Failure(Errc::timeout, "no answer in time")));
  CHECK_FALSE(Outage::is_one(Failure(Errc::api, "forbidden")));
}

TEST_CASE("the same is said once, and later how often it was held back") {
  Repeats repeats(1min);
  const TimePoint start{};
  CHECK(repeats.note("pod web-1: used 2 of 2", start) == 0);
  CHECK_FALSE(repeats.note("pod web-17: used 3 of 2", start + 1s));
  CHECK(repeats.note("something else", start + 2s) == 0);
  CHECK_FALSE(repeats.note("pod web-2: used 2 of 2", start + 59s));
  CHECK(repeats.note("pod web-1: used 2 of 2", start + 61s) == 2);
  CHECK_FALSE(repeats.note("pod web-1: used 2 of 2", start + 62s));
}

TEST_CASE("what is remembered is bounded") {
  Repeats repeats(1min);
  const TimePoint start{};
  CHECK(repeats.note("first", start) == 0);
  const auto text = [](int i) { return std::string(static_cast<std::size_t>(i + 1), 'x'); };
  for (int i = 0; i < 256; ++i) CHECK(repeats.note(text(i), start + 1s) == 0);
  CHECK(repeats.note("first", start + 2s) == 0);
}

}  // namespace
