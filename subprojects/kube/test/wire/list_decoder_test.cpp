#include "kube/wire/list_decoder.hpp"

#include <doctest/doctest.h>

using namespace kube::wire;

TEST_CASE("a list split at any byte gives the same page") {
  constexpr std::string_view body =
      R"({"kind":"PodList","metadata":{"resourceVersion":"12","continue":"next"},"items":[{"metadata":{"name":"a"}}]})";
  for (std::size_t split = 0; split <= body.size(); ++split) {
    CAPTURE(split);
    ListDecoder decoder;
    REQUIRE(decoder.feed(body.substr(0, split)));
    REQUIRE(decoder.feed(body.substr(split)));
    auto page = decoder.finish();
    REQUIRE(page.has_value());
    CHECK(page->resource_version == "12");
    CHECK(page->continue_token == "next");
    CHECK(page->items.size() == 1);
  }
}

TEST_CASE("a list that is cut short, too long or no list is refused") {
  ListDecoder cut;
  REQUIRE(cut.feed(R"({"items":[)"));
  CHECK(cut.finish().error().code() == kube::Errc::parse);

  ListDecoder large(16);
  CHECK(large.feed(std::string(17, ' ')).error().code() == kube::Errc::too_large);

  ListDecoder other;
  REQUIRE(other.feed(R"({"kind":"Pod"})"));
  CHECK(other.finish().error().code() == kube::Errc::parse);

  ListDecoder none;
  REQUIRE(none.feed(R"({"items":null,"metadata":{}})"));
  CHECK(none.finish()->items.empty());
}

TEST_CASE("items that are nested too deep are set apart, wherever the pieces end") {
  const auto item = [](const char* name, int levels) {
    std::string text = R"({"metadata":{"name":")" + std::string(name) + R"("},"spec":)";
    for (int i = 0; i < levels; ++i) text += "[";
    for (int i = 0; i < levels; ++i) text += "]";
    return text + "}";
  };
  const std::string body = R"({"metadata":{"resourceVersion":"5"},"items":[)" + item("a", 3) + "," + item("b", 1000) +
                           ",null," + item("c", 1) + "," + item("d", 300) + "]}";
  for (const std::size_t piece : {std::size_t(1), std::size_t(7), body.size()}) {
    kube::wire::ListDecoder decoder;
    for (std::size_t at = 0; at < body.size(); at += piece) REQUIRE(decoder.feed(body.substr(at, piece)));
    const auto page = decoder.finish();
    REQUIRE(page);
    CHECK(page->resource_version == "5");
    CHECK(page->items.size() == 3);
    REQUIRE(page->too_deep.size() == 2);
    CHECK(kube::string_at(page->too_deep[0], {"metadata", "name"}) == "b");
    CHECK(kube::string_at(page->too_deep[1], {"metadata", "name"}) == "d");
  }
}
