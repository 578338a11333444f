// What objects would lose were one definition of their kind put in place of another.
#include "model/kinds.hpp"

#include <doctest/doctest.h>

namespace {

using liqoctl::model::lost_between;
namespace json = kube::json;
using Paths = std::vector<std::string>;

json::value definition(const std::string& schema, const char* version = "v1", bool served = true) {
  return json::parse(R"({"spec":{"versions":[{"name":")" + std::string(version) + R"(","served":)" +
                     (served ? "true" : "false") + R"(,"schema":{"openAPIV3Schema":)" + schema + "}}]}}");
}

TEST_CASE("fields, words and versions are told that only the first definition takes") {
  const auto small = definition(R"({"properties":{"spec":{"properties":{"class":{"enum":["a"]}}}}})");
  const auto large = definition(
      R"({"properties":{"spec":{"properties":{"class":{"enum":["a","b"]},"more":{}}},"status":{"type":"object"}}})");
  CHECK(lost_between(small, large) == Paths{});
  CHECK(lost_between(large, small) == Paths{"v1.spec.class=\"b\"", "v1.spec.more", "v1.status"});
  CHECK(lost_between(small, definition("{}", "v2")) == Paths{"v1"});
  CHECK(lost_between(small, definition("{}", "v1", false)) == Paths{"v1"});
  CHECK(lost_between(definition("{}", "v1", false), small) == Paths{});
}

TEST_CASE("lists and maps are gone through, and what takes everything takes all") {
  const auto list = definition(R"({"properties":{"l":{"items":{"properties":{"x":{}}}}}})");
  CHECK(lost_between(list, definition(R"({"properties":{"l":{"items":{"properties":{}}}}})")) == Paths{"v1.l[].x"});
  CHECK(lost_between(list, definition(R"({"properties":{"l":{}}})")) == Paths{"v1.l[]"});
  CHECK(
      lost_between(list, definition(R"({"properties":{"l":{"x-kubernetes-preserve-unknown-fields":true}}})")).empty());
  const auto map = definition(R"({"additionalProperties":{"properties":{"x":{}}}})");
  CHECK(lost_between(map, definition(R"({"additionalProperties":{"type":"string"}})")) == Paths{"v1[].x"});
  const auto free_text = definition(R"({"properties":{"w":{}}})");
  CHECK(lost_between(free_text, definition(R"({"properties":{"w":{"enum":["a"]}}})")) == Paths{"v1.w"});
}

}  // namespace
