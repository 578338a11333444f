// The text units of liqoctl: tables, boxes, durations, paths, suggestions, lists of names.
#include <doctest/doctest.h>

#include "kube/base/printable.hpp"
#include "kube/wire/yaml.hpp"
#include "text/box.hpp"
#include "text/duration.hpp"
#include "text/path.hpp"
#include "text/suggest.hpp"
#include "text/table.hpp"
#include "text/width.hpp"
#include "text/wrap.hpp"
#include "text/yaml.hpp"

namespace {

using namespace liqoctl::text;
using namespace std::chrono_literals;
namespace json = kube::json;

TEST_CASE("a table pads columns to their widest cell and leaves no spaces at the ends of lines") {
  CHECK(table({"NAME", "STATUS", "AGE"}, {{"a", "Accepted", "21s"}, {"gpu-pool", "", "2d"}}) ==
        "NAME       STATUS     AGE\n"
        "a          Accepted   21s\n"
        "gpu-pool              2d\n");
  CHECK(table({"NAME"}, {}) == "NAME\n");
  CHECK(table({"A", "B"}, {{"é", "x"}}) == "A   B\né   x\n");
}

TEST_CASE("a sentence is broken between words, and nothing of it is cut") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("", 10) == Lines{""});
  CHECK(wrapped("one two", 7) == Lines{"one two"});
  CHECK(wrapped("one two", 6) == Lines{"one", "two"});
  CHECK(wrapped("a verylongword b", 5) == Lines{"a", "verylongword", "b"});
  CHECK(wrapped("é é é", 3) == Lines{"é é", "é"});
}

TEST_CASE("sections have rules that end one column earlier at each level, and fields in one column") {
  const Section section{.title = "Outer",
                        .lines = {"a line"},
                        .fields = {{"Key", "value"}, {"Longer key", "other"}},
                        .sections = {{.title = "Inner"}}};
  const std::string out = render(section);
  CHECK(out.substr(0, out.find('\n')).ends_with("──"));
  CHECK(width(out.substr(0, out.find('\n'))) == 64);
  const std::string last = out.substr(out.rfind("  ─ Inner"));
  CHECK(width(last) == 63 + 1);
  CHECK(out.find("\n  a line\n  Key:           value\n  Longer key:    other\n") != std::string::npos);
}

TEST_CASE("JSON and YAML for people escape what terminals act on, and read back the same") {
  const json::value tree{{"k\u202E", "a\u200Bb\u009B\U000E0041 ü"}, {"lines", "x\ny\u202E\n"}};
  CHECK(in_double_quotes("a\u200Bb\U000E0041\"", Quotes::json) == R"("a\u200bb\udb40\udc41\"")");
  CHECK(in_double_quotes("\U000E0041", Quotes::yaml) == R"("\U000e0041")");
  CHECK(json::parse(pretty_json(tree)) == tree);
  const auto back = kube::wire::read_yaml(yaml(tree));
  REQUIRE(back);
  CHECK(back->front() == tree);
  CHECK_FALSE(kube::acts_on_terminals(json::serialize(json::string(kube::printable(yaml(tree))))));
}

TEST_CASE("ages are shown as kubectl shows them") {
  struct Case {
    kube::Duration passed;
    const char* expected;
  };
  for (const Case& one : {Case{-5s, "0s"}, Case{21s, "21s"}, Case{119s, "119s"}, Case{2min, "2m"}, Case{303s, "5m3s"},
                          Case{12min + 7s, "12m"}, Case{200min, "3h20m"}, Case{10h, "10h"}, Case{50h, "2d"}}) {
    CAPTURE(one.expected);
    CHECK(age(one.passed) == one.expected);
  }
  CHECK(age_of("nonsense", {}) == "<unknown>");
  CHECK(age_of("0001-01-01T00:00:00Z", *kube::parse_time("2026-11-21T10:00:00Z")) == "20778d");
  CHECK(age_of("9999-12-31T23:59:60Z", *kube::parse_time("2026-11-21T10:00:00Z")) == "0s");
}

TEST_CASE("a path picks fields in any case, places and names") {
  const json::value root = json::parse(R"({"a":{"bC":[{"name":"x","v":1},{"name":"y.z","v":2}],"off":false}})");
  struct Case {
    const char* path;
    const char* expected;
  };
  for (const Case& one : {Case{"a.bc.0.v", "1"}, Case{".A.BC.x.v", "1"}, Case{"a.bc[y.z].v", "2"},
                          Case{"a.off", "false"}, Case{"a.bC[1].name", "\"y.z\""}}) {
    CAPTURE(one.path);
    const auto found = pick(root, one.path);
    REQUIRE(found);
    CHECK(json::serialize(*found) == one.expected);
  }
  CHECK(*pick(root, "") == root);
  const auto missing = pick(root, "a.nothing");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text() == "there is no 'nothing' in 'a'; there is bC, off");
  CHECK_FALSE(pick(root, "a.off.deeper"));
  CHECK_FALSE(pick(root, "a.bc.7"));
}

TEST_CASE("only a near word is suggested") {
  const std::vector<std::string> known{"peer", "unpeer", "authenticate", "cordon"};
  CHECK(nearest("per", known) == "peer");
  CHECK(nearest("unper", known) == "unpeer");
  CHECK(nearest("autenticate", known) == "authenticate");
  CHECK(nearest("foo", known) == "");
}

TEST_CASE("a line of progress stays one line") {
  CHECK(shortened("waiting", 7) == "waiting");
  CHECK(shortened("waiting", 5) == "wait…");
  CHECK(shortened("Größe über", 6) == "Größe…");
  CHECK(shortened("", 3).empty());
}

}  // namespace
