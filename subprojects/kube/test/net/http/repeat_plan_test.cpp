#include "net/http/repeat_plan.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace kube;
using namespace kube::net;
using namespace std::chrono_literals;

TEST_CASE(
    "what a server has not seen is sent again whatever it is, and what it may have done once, where that is safe") {
  struct Case {
    std::string_view title;
    Loss loss;
    Sendings sendings;
    std::optional<Duration> pause;
  };
  for (const Case& c : {
           Case{"unseen at first", Loss::unseen, {.count = 1}, 0ms},
           Case{"unseen again", Loss::unseen, {.count = 2}, 40ms},
           Case{"unseen for the fifth time", Loss::unseen, {.count = 5}, 250ms},
           Case{"unseen too often", Loss::unseen, {.count = 6}, std::nullopt},
           Case{
               "unseen behind a repeat", Loss::unseen, {.count = 2, .is_repeatable = true, .was_repeated = true}, 40ms},
           Case{"lost, and safe", Loss::unknown, {.count = 1, .is_repeatable = true}, 0ms},
           Case{"lost, safe, and often unseen before", Loss::unknown, {.count = 6, .is_repeatable = true}, 0ms},
           Case{"lost for the second time",
                Loss::unknown,
                {.count = 2, .is_repeatable = true, .was_repeated = true},
                std::nullopt},
           Case{"lost, and not safe", Loss::unknown, {.count = 1}, std::nullopt},
           Case{"final", Loss::final, {.count = 1, .is_repeatable = true}, std::nullopt},
       }) {
    CAPTURE(c.title);
    CHECK(plan_repeat(c.loss, c.sendings) == c.pause);
  }
}
