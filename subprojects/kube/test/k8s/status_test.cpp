#include "kube/k8s/status.hpp"

#include <doctest/doctest.h>

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("a pause that a server asks for is a number of seconds, within reason") {
  const struct {
    std::string_view header;
    std::optional<std::chrono::seconds> pause;
  } cases[] = {
      {"", std::nullopt},
      {"0", 0s},
      {"7", 7s},
      {"300", 300s},
      {"301", max_retry_after},
      {"1000000000000000000", max_retry_after},
      {"99999999999999999999999", max_retry_after},
      {"-1", std::nullopt},
      {"-99999999999999999999999", std::nullopt},
      {"1 s", std::nullopt},
      {"Fri, 31 Dec 1999 23:59:59 GMT", std::nullopt},
  };
  for (const auto& each : cases) {
    CAPTURE(each.header);
    CHECK(read_status(429, "", each.header).retry_after == each.pause);
  }
}

TEST_CASE("so is the one in the details of a Status") {
  const auto pause = [](std::string_view seconds) {
    const std::string text = R"({"kind":"Status","details":{"retryAfterSeconds":)" + std::string(seconds) + "}}";
    return read_status(503, text).retry_after;
  };
  CHECK(pause("2") == 2s);
  CHECK(pause("1000000000000000000") == max_retry_after);
  CHECK(pause("0") == std::nullopt);
  CHECK(pause("-5") == std::nullopt);
  CHECK(pause(R"("2")") == std::nullopt);
}
