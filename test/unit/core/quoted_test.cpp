#include "liqo/core/quoted.hpp"

#include <doctest/doctest.h>

using liqo::core::in_quotes;
using liqo::core::one_line;

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

TEST_CASE("foreign text stands on one line, without what is not shown but followed") {
  struct {
    std::string text, expected;
  } cases[] = {
      {"", ""},
      {"milan", "milan"},
      {"no  such\r\n\tfile\n", "no such file"},
      {"\x1b[2Jgone\x7f", "[2Jgone"},
      {" \n ", ""},
      {"grün → blau", "grün → blau"},
      {"a\u0085b\u200bc\u2028d\u202ee\u2066f", "a b c d e f"},
      {"\xe2\x80", "\xe2\x80"},
      {"\xc2", "\xc2"},
  };
  for (const auto& each : cases) CHECK(one_line(each.text, 100) == each.expected);

  CHECK(one_line("default", 3) == "def");
  CHECK(one_line("für", 2) == "f");
  CHECK(one_line(std::string("a\0b", 3), 10) == "a b");
}
