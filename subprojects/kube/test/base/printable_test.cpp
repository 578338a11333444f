#include "kube/base/printable.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("foreign text is quoted and cut, and shows nothing that a terminal would follow") {
  const std::string hundred(100, 'a');
  struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"", "\"\""},
      {"milan", "\"milan\""},
      {"say \"no\"\n", "\"say \"no\" \""},
      {"\x1b[2J", "\"?[2J\""},
      {hundred, "\"" + hundred + "\""},
      {hundred + "b", "\"" + hundred + "\""},
  };
  for (const auto& each : cases) CHECK(in_quotes(each.text) == each.expected);

  CHECK(in_quotes("default", 3) == "\"def\"");
  CHECK(in_quotes("default", 7) == "\"default\"");
  CHECK(in_quotes("default", 128) == "\"default\"");
  CHECK(in_quotes("für", 2) == "\"f\"");
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
      {"a\xe2\x80", "a"},
      {"\xc2z", "z"},
  };
  for (const auto& each : cases) CHECK(one_line(each.text, 100) == each.expected);

  CHECK(one_line("default", 3) == "def");
  CHECK(one_line("für", 2) == "f");
  CHECK(one_line(std::string("a\0b", 3), 10) == "a b");
}

TEST_CASE("what another cluster wrote neither moves the cursor nor hides") {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& one : {Case{"a\x1b[2Jb\nc\td", "a?[2Jb c d"},
                          Case{"C1 \xC2\x9B"
                               "2J",
                               "C1 ?2J"},
                          Case{"bidi \u202Egnp.exe\u2066", "bidi ?gnp.exe?"},
                          Case{"zero\u200B\uFEFFwidth\u00AD", "zero??width?"}, Case{"tag \U000E0041", "tag ?"},
                          Case{"broken \xC3( \xED\xA0\x80 \xF5", "broken ?( ??? ?"}, Case{"cut \xE2\x80", "cut ??"},
                          Case{"Grüße, 東京 🚀", "Grüße, 東京 🚀"}, Case{"\x7F", "?"}, Case{"a\r\n", "a  "}}) {
    CAPTURE(one.expected);
    CHECK(printable(one.text) == one.expected);
    CHECK(printable(printable(one.text)) == printable(one.text));
  }
  CHECK(acts_on_terminals("\u202E"));
  CHECK_FALSE(acts_on_terminals("東京"));
}
