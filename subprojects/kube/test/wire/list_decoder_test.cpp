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
