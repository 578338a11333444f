#include "kube/wire/list_decoder.hpp"

#include <doctest/doctest.h>

using namespace kube::wire;
using kube::Errc;
using kube::Result;

namespace {

struct Page {
  ListMeta meta;
  std::vector<std::string> names, deep;
};

/// Reads a page that comes in pieces of one size.
Result<Page> read(std::string_view body, std::size_t piece, std::size_t max_bytes = 1 << 20) {
  ListDecoder decoder(max_bytes);
  Page page;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (auto fed = decoder.feed(body.substr(at, piece)); !fed) return std::unexpected(fed.error());
    while (true) {
      auto item = decoder.next();
      if (!item) return std::unexpected(item.error());
      if (!item->has_value()) break;
      std::string name(kube::string_at((*item)->tree, {"metadata", "name"}));
      if (name.empty()) name = kube::json::serialize((*item)->tree);
      ((*item)->too_deep ? page.deep : page.names).push_back(std::move(name));
    }
  }
  auto meta = decoder.finish();
  if (!meta) return std::unexpected(meta.error());
  page.meta = std::move(*meta);
  return page;
}

}  // namespace

TEST_CASE("a list in pieces of any size gives the same page") {
  constexpr std::string_view body =
      R"( {"kind":"PodList","items" : [{"metadata":{"name":"a"}}, {"metadata":{"name":"b]},{\"\\"}},{"metadata":{"name":)"
      R"("c"},"items":[[1,{"x":[]}],"]"]} ],"metadata":{"resourceVersion":"12","continue":"next","items":[1]}} )";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    CAPTURE(piece);
    const auto page = read(body, piece);
    REQUIRE(page);
    CHECK(page->meta.resource_version == "12");
    CHECK(page->meta.continue_token == "next");
    CHECK(page->names == std::vector<std::string>{"a", "b]},{\"\\", "c"});
    CHECK(page->deep.empty());
  }
}

TEST_CASE("lists with nothing in them") {
  for (const char* body :
       {R"({"items":[]})", R"({"items":null,"metadata":{"resourceVersion":""}})", R"({"items": [ ] })"}) {
    CAPTURE(body);
    const auto page = read(body, 3);
    REQUIRE(page);
    CHECK(page->names.empty());
    CHECK(page->meta.resource_version.empty());
  }
}

TEST_CASE("what is no list is refused") {
  for (const char* body : {"",
                           "[]",
                           "{}",
                           "null",
                           R"({"kind":"Pod"})",
                           R"({"items":[)",
                           R"({"items":[{"a":1})",
                           R"({"items":[{"a":1}])",
                           R"({"items":[{"a":1}},"b":2})",
                           R"({"items":[{"a":1},]})",
                           R"({"items":[,{"a":1}]})",
                           R"({"items":[{"a":1} {"b":2}]})",
                           R"({"items":[{"a":1]]})",
                           R"({"items":[1e999]})",
                           R"({"items":{}})",
                           R"({"items":"a"})",
                           R"(["items":[1]])",
                           R"({"items":[1]}})",
                           R"({"items":[1]}{})",
                           R"({"items"[1]})",
                           R"({"items":[1],"items":[2]})",
                           R"({"items":[1],"items":null})",
                           R"({"\u0069tems":[1]})",
                           R"({"list":{"items":[1]}})"}) {
    for (const std::size_t piece : {std::size_t(1), std::size_t(1000)}) {
      CAPTURE(body);
      const auto page = read(body, piece);
      REQUIRE_FALSE(page);
      CHECK(page.error().code() == Errc::parse);
    }
  }
}

TEST_CASE("what is too long is refused before it has come") {
  CHECK(read(std::string(17, ' '), 1, 16).error().code() == Errc::too_large);
  const auto endless = [](const std::string& begin) {
    ListDecoder decoder;
    std::size_t sent = 0;
    Result<void> fed;
    for (fed = decoder.feed(begin); fed && sent < (64u << 20); sent += 1 << 16) {
      if (auto next = decoder.next(); !next) {
        CHECK(next.error().code() == Errc::too_large);
        return sent;
      }
      fed = decoder.feed(std::string(1 << 16, 'x'));
    }
    return sent;
  };
  CHECK(endless(R"({"items":[{"a":")") <= kube::max_object_bytes + (1 << 17));
  CHECK(endless(R"({"metadata":{"continue":")") <= (2u << 20));
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
    const auto page = read(body, piece);
    REQUIRE(page);
    CHECK(page->meta.resource_version == "5");
    CHECK(page->names == std::vector<std::string>{"a", "null", "c"});
    CHECK(page->deep == std::vector<std::string>{"b", "d"});
  }
}

TEST_CASE("a page of dense JSON is refused within the memory of its account, and one of many objects is never held") {
  constexpr std::size_t mebibyte = 1u << 20;
  const auto account = std::make_shared<kube::MemoryAccount>("cluster milan", 16 * mebibyte, nullptr);
  const auto flood = [&](const std::string& begin, std::string_view element, std::size_t bytes) {
    ListDecoder decoder(64 * mebibyte, account);
    std::string block;
    while (block.size() < (1 << 16)) block += element;
    REQUIRE(decoder.feed(begin));
    for (std::size_t sent = 0; sent < bytes; sent += block.size()) {
      if (auto fed = decoder.feed(block); !fed) return fed.error().code();
      while (true) {
        const auto item = decoder.next();
        CHECK(account->held() <= 16 * mebibyte);
        if (!item) return item.error().code();
        if (!item->has_value()) break;
      }
    }
    return Errc::closed;
  };
  CHECK(flood(R"({"items":[{"metadata":{"name":"a"},"x":[0)", ",0", 32 * mebibyte) == Errc::too_large);
  // One item that is dense, and whole.
  std::string zeros = R"({"items":[{"x":[0)";
  while (zeros.size() < 3 * mebibyte) zeros += ",0";
  ListDecoder decoder(64 * mebibyte, account);
  REQUIRE(decoder.feed(zeros + "]},"));
  CHECK(decoder.next().error().code() == Errc::too_large);
  CHECK(flood(R"({"items":[[])", ",[]", mebibyte) == Errc::closed);
}
