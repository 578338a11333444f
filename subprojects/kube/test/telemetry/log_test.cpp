#include "kube/telemetry/log.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_stderr.hpp"

using namespace kube;

TEST_CASE("a line of the log has its fields, and a value in it moves no cursor and forges no line") {
  struct Case {
    std::string title, value, written;
  };
  const Case cases[] = {
      {"a word", "milan", "value=milan"},
      {"nothing", "", R"(value="")"},
      {"words", "no room", R"(value="no room")"},
      {"quotes", R"(a"b)", R"(value="a\"b")"},
      {"a line break", "a\nlevel=error", R"(value="a\nlevel=error")"},
      {"an escape", "\x1b[2J", R"(value="\u001b[2J")"},
      {"DEL", "a\x7f", R"(value="a\u007f")"},
      {"a control of eight bits", "a\u009b2J", R"(value="a\u009b2J")"},
      {"a mark that turns the direction", "a\u202eb", R"(value="a\u202eb")"},
      {"a tag beyond 16 bits", "a\U000e0041", R"(value="a\udb40\udc41")"},
      {"no UTF-8", "a\xff", R"(value="a?")"},
      {"another script", "日本", "value=日本"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const test::CapturedStderr log;
    Log("tests").with("cluster", "rome").warn("cannot do it", {{"value", c.value}});
    const std::string line = log.text();
    CHECK(line.substr(line.find(' ')) == " W tests: cannot do it cluster=rome " + c.written + "\n");
  }
}

TEST_CASE("what is below the level is not written") {
  const test::CapturedStderr log;
  Log("tests").debug("nobody asked");
  CHECK(log.text().empty());
}

TEST_CASE("several threads write one log, a line at a time") {
  const test::CapturedStderr log;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([thread] {
        const Log mine = Log("tests").with("thread", std::to_string(thread));
        for (int i = 0; i < 2000; ++i) mine.info("it went on", {{"text", std::string(100, 'x')}});
      });
  }
  CHECK(std::ranges::count(log.text(), '\n') == 8000);
  for (int thread = 0; thread < 4; ++thread)
    CHECK(log.lines_with(" I tests: it went on thread=" + std::to_string(thread) + " text=xxx") == 2000);
}
