// The file of all labels or annotations, as kubelets write it.
#include "core/offloading/downward_text.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

std::string text_of(std::string_view entries) { return downward_text(parse_value(entries).get_object()); }

}  // namespace

TEST_CASE("labels and annotations are lines in the order of their keys") {
  CHECK(text_of("{}") == "");
  CHECK(text_of(R"({"app": ""})") == R"(app="")");
  CHECK(text_of(R"({"b": "2", "a/c": "3", "a": "1", "a-b": "4", "B": "0"})") ==
        "B=\"0\"\na=\"1\"\na-b=\"4\"\na/c=\"3\"\nb=\"2\"");
  CHECK(text_of(R"({"a": 1, "b": null, "c": "x"})") == R"(c="x")");
}

TEST_CASE("values are quoted as Go quotes them") {
  const struct {
    std::string_view value, quoted;
  } cases[] = {
      {R"("plain, with 'quotes'")", R"("plain, with 'quotes'")"},
      {R"("say \"hi\" \\o/")", R"("say \"hi\" \\o/")"},
      {R"("a\tb\nc\r\u0007\u0008\u000b\u000c")", R"("a\tb\nc\r\a\b\v\f")"},
      {R"("\u0001\u001f\u007f")", R"("\x01\x1f\x7f")"},
      {R"("Zürich, 東京, 😀")", R"("Zürich, 東京, 😀")"},
      {R"("a\u0085b\u00a0c\u00add")", R"("a\u0085b\u00a0c\u00add")"},
      {R"("\u200b\u2028\ufeff\ufffd")", "\"\\u200b\\u2028\\ufeff\xEF\xBF\xBD\""},
      {R"("\udb40\udc01")", R"("\U000e0001")"},
      {R"("{\"a\":\"b\"}")", R"("{\"a\":\"b\"}")"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.value);
    CHECK(text_of("{\"k\": " + std::string(each.value) + "}") == "k=" + std::string(each.quoted));
  }
}

}  // namespace liqo::core
