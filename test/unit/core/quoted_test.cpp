#include "liqo/core/quoted.hpp"

#include <doctest/doctest.h>

using liqo::core::in_quotes;

TEST_CASE("foreign text is quoted and cut, and nothing of it is changed") {
  const std::string hundred(100, 'a');
  struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"", "\"\""},
      {"milan", "\"milan\""},
      {"say \"no\"\n", "\"say \"no\"\n\""},
      {hundred, "\"" + hundred + "\""},
      {hundred + "b", "\"" + hundred + "\""},
  };
  for (const auto& each : cases) CHECK(in_quotes(each.text) == each.expected);

  CHECK(in_quotes("default", 3) == "\"def\"");
  CHECK(in_quotes("default", 7) == "\"default\"");
  CHECK(in_quotes("default", 128) == "\"default\"");
}
