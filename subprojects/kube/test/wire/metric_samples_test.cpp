#include "kube/wire/metrics_text.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "feeding.hpp"
#include "kube/base/text.hpp"

using namespace kube::wire;

TEST_CASE("a line of metrics is read") {
  struct Case {
    const char* title;
    const char* line;
    const char* written;  ///< what metric_line makes of it, without the line end
  };
  for (const Case& c : {
           Case{"a name and a value", "up 1", "up 1"},
           Case{"with a time", "node_cpu_usage_seconds_total 357.35491 1633253809720",
                "node_cpu_usage_seconds_total 357.35491 1633253809720"},
           Case{"with labels", R"(c{container="a",pod="p"} 4.7)", R"(c{container="a",pod="p"} 4.7)"},
           Case{"with blanks", "\t c\t{ a = \"1\" , b=\"2\" , }  -1e-9 \t -5 ", R"(c{a="1",b="2"} -1e-9 -5)"},
           Case{"with no labels in the braces", "c{} 0", "c 0"},
           Case{"with escapes", R"(c{a="\\\"\n}",b=" # "} 0)", R"(c{a="\\\"\n}",b=" # "} 0)"},
           Case{"with other letters", "c{a=\"été €😀\"} 0", "c{a=\"été €😀\"} 0"},
           Case{"a name with colons", ":job:rate5m 2", ":job:rate5m 2"},
           Case{"an empty value of a label", R"(c{image=""} 0)", R"(c{image=""} 0)"},
           Case{"infinite", R"(h_bucket{le="+Inf"} +Inf)", R"(h_bucket{le="+Inf"} +Inf)"},
           Case{"not a number", "c NaN", "c NaN"},
       }) {
    CAPTURE(c.title);
    const auto sample = parse_metric_sample(c.line);
    REQUIRE(sample);
    CHECK(metric_line(*sample) == std::string(c.written) + "\n");
  }
}

TEST_CASE("the time of a sample is that of its line") {
  CHECK(metric_time(*parse_metric_sample("up 1 1633253809720")) == 1633253809720);
  CHECK(metric_time(*parse_metric_sample("up 1 -5")) == -5);
  CHECK_FALSE(metric_time(*parse_metric_sample("up 1")));
}

TEST_CASE("what is no sample is none") {
  struct Case {
    const char* title;
    std::string line;
  };
  for (const Case& c : std::vector<Case>{
           {"nothing", ""},
           {"blanks", " \t"},
           {"a comment", "# TYPE up gauge"},
           {"no value", "up"},
           {"no value behind labels", R"(up{a="b"})"},
           {"a word as value", "up down"},
           {"two signs", "up +-1"},
           {"a number with more behind it", "up 1x"},
           {"not a number in words", "up nan(payload)"},
           {"a time that is none", "up 1 now"},
           {"a time with a fraction", "up 1 1633253809.720"},
           {"a fourth word", "up 1 2 3"},
           {"a name that begins with a digit", "2up 1"},
           {"a name with a dash", "up-time 1"},
           {"a label with a colon", R"(up{a:b="c"} 1)"},
           {"a label without a name", R"(up{="c"} 1)"},
           {"a label without a value", "up{a=} 1"},
           {"a label without quotes", "up{a=b} 1"},
           {"labels without a comma", R"(up{a="b" c="d"} 1)"},
           {"only a comma", "up{,} 1"},
           {"quotes that do not end", R"(up{a="b} 1)"},
           {"an escape at the end", R"(up{a="b\)"},
           {"an escape that there is not", R"(up{a="\t"} 1)"},
           {"braces that do not end", R"(up{a="b",)"},
           {"a label given twice", R"(up{namespace="mine",namespace="yours"} 1)"},
           {"a carriage return", "up 1\r"},
           {"half a character", "up{a=\"\xc3\"} 1"},
           {"a character in a long form", "up{a=\"\xc0\xaf\"} 1"},
           {"half of a pair", "up{a=\"\xed\xa0\x80\"} 1"},
           {"beyond Unicode", "up{a=\"\xf4\x90\x80\x80\"} 1"},
           {"an exemplar", R"(h_bucket{le="1"} 1 # {trace="x"} 0.5)"},
       }) {
    CAPTURE(c.title);
    CHECK_FALSE(parse_metric_sample(c.line));
  }
}

TEST_CASE("a sample has a bounded number of labels") {
  const auto line = [](std::size_t labels) {
    std::string text = "m{";
    for (std::size_t i = 0; i < labels; ++i) text += "l" + std::to_string(i) + "=\"v\",";
    return text + "} 1";
  };
  const std::string most = line(max_metric_labels);
  CHECK(parse_metric_sample(most));
  CHECK_FALSE(parse_metric_sample(line(max_metric_labels + 1)));
}

TEST_CASE("labels are found by name, and their values stay escaped") {
  const std::string line = R"(c{namespace="shop",pod="a\"b\\c\nd"} 1)";
  const auto sample = parse_metric_sample(line);
  REQUIRE(sample);
  CHECK(label_of(*sample, "namespace") == "shop");
  CHECK(label_of(*sample, "name").empty());
  CHECK(kube::escape_label("a\"b\\c\nd") == label_of(*sample, "pod"));
}

TEST_CASE("TYPE and HELP are read, other comments are not") {
  struct Case {
    const char* line;
    bool read;
    bool is_type = false;
    const char* name = "";
    const char* text = "";
  };
  for (const Case& c : {
           Case{"# TYPE up gauge", true, true, "up", "gauge"},
           Case{" #  TYPE\tup counter ", true, true, "up", "counter"},
           Case{"# HELP up Whether it is up.", true, false, "up", "Whether it is up."},
           Case{"# HELP up", true, false, "up", ""},
           Case{"# TYPE up", false},
           Case{"# TYPE up nonsense", false},
           Case{"# TYPE up{} gauge", false},
           Case{"# HELP 1 one", false},
           Case{"# HELP up \xff", false},
           Case{"# EOF", false},
           Case{"#", false},
           Case{"up 1", false},
       }) {
    CAPTURE(c.line);
    const auto comment = parse_metric_comment(c.line);
    REQUIRE(comment.has_value() == c.read);
    if (!comment) continue;
    CHECK(comment->is_type == c.is_type);
    CHECK(comment->name == c.name);
    CHECK(comment->text == c.text);
  }
}

TEST_CASE("numbers are read") {
  CHECK(metric_number("4.5e1") == 45);
  CHECK(metric_number("+2") == 2);
  CHECK(metric_number("-Inf") == -INFINITY);
  CHECK(std::isnan(metric_number("NaN").value_or(0)));
  for (const char* text : {"", "+", "-", "1 ", "0x1p3z", "+-1", "infinite"}) {
    CAPTURE(text);
    CHECK_FALSE(metric_number(text));
  }
}

TEST_CASE("a body in any pieces gives the same lines, and a line that is too long costs itself only") {
  const std::string body = "one 1\n\n" + std::string(17, 'x') + "\n" + std::string(16, 'y') + "\nlast 2";
  kube::test::in_every_cut(body, [](const std::vector<std::string_view>& pieces) {
    MetricLines lines(16);
    std::vector<std::string> read;
    for (const std::string_view piece : pieces)
      for (std::string& line : lines.feed(piece)) read.push_back(std::move(line));
    if (auto line = lines.finish()) read.push_back(std::move(*line));
    CHECK(read == std::vector<std::string>{"one 1", "", std::string(16, 'y'), "last 2"});
    CHECK(lines.dropped() == 1);
  });
}

TEST_CASE("a line without end is not kept") {
  MetricLines lines(16);
  for (int i = 0; i < 1000; ++i) CHECK(lines.feed("0123456789").empty());
  CHECK(lines.dropped() == 1);
  CHECK_FALSE(lines.finish());
  CHECK(lines.feed("\nup 1\n") == std::vector<std::string>{"up 1"});
}
