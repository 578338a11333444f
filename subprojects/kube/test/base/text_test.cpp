#include "kube/base/text.hpp"

#include <doctest/doctest.h>

#include <ranges>
#include <utility>

using namespace kube;

TEST_CASE("a word loses the blanks at its ends, and no others") {
  for (const auto& [text, trimmed] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"", ""}, {" \t ", ""}, {"a", "a"}, {"\t a  b ", "a  b"}, {"a\n", "a\n"}}) {
    CAPTURE(text);
    CHECK(trim(text) == trimmed);
  }
}

TEST_CASE("a list is cut at its separators, and empty parts are left out") {
  for (const auto& [list, parts] : std::vector<std::pair<std::string_view, std::vector<std::string_view>>>{
           {"", {}}, {",", {}}, {"a", {"a"}}, {",a,,b c,", {"a", "b c"}}, {"a,b", {"a", "b"}}}) {
    CAPTURE(list);
    CHECK(split(list, ',') == parts);
  }
}

TEST_CASE("texts are joined with a separator between them, empty ones too") {
  CHECK(join(std::vector<std::string>{}, ", ").empty());
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::vector<std::string_view>{"a", "", "b"}, ", ") == "a, , b");
  const auto doubled = [](const std::string& text) { return text + text; };
  CHECK(join(std::vector<std::string>{"a", "b"} | std::views::transform(doubled), "/") == "aa/bb");
}

TEST_CASE("of many texts the first are joined, and the others counted") {
  const std::vector<std::string> texts{"a", "b", "c"};
  CHECK(join_some(std::vector<std::string>{}, 2).empty());
  CHECK(join_some(texts, 3) == "a, b, c");
  CHECK(join_some(texts, 2) == "a, b and 1 more");
  const auto doubled = [](const std::string& text) { return text + text; };
  CHECK(join_some(texts | std::views::transform(doubled), 1) == "aa and 2 more");
}

TEST_CASE("ASCII letters get into lower case, and nothing else changes") {
  CHECK(kube::lower_case("") == "");
  CHECK(kube::lower_case("Sec-WebSocket-KEY 1") == "sec-websocket-key 1");
  CHECK(kube::lower_case("ÄZ[@`") == "Äz[@`");
}
