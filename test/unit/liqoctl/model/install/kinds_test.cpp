// The losses of objects if one definition of their kind replaced another.
#include "model/install/kinds.hpp"

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
  CHECK(lost_between(map, definition(R"({"additionalProperties":{"properties":{}}})")) == Paths{"v1[].x"});
  const auto free_text = definition(R"({"properties":{"w":{}}})");
  CHECK(lost_between(free_text, definition(R"({"properties":{"w":{"enum":["a"]}}})")) == Paths{"v1.w"});
}

TEST_CASE("types are told that only the first definition takes, and nothing below where none is the same") {
  const auto of = [](const std::string& field) { return definition(R"({"properties":{"f":)" + field + "}}"); };
  const auto text = of(R"({"type":"string"})"), whole = of(R"({"type":"integer"})"),
             number = of(R"({"type":"number"})");
  CHECK(lost_between(text, text).empty());
  CHECK(lost_between(whole, text) == Paths{"v1.f as integer"});
  CHECK(lost_between(whole, number).empty());
  CHECK(lost_between(number, whole) == Paths{"v1.f as number"});
  const auto either = of(R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})");
  CHECK(lost_between(text, either).empty());
  CHECK(lost_between(either, text) == Paths{"v1.f as integer"});
  CHECK(lost_between(of(R"({"type":"string","nullable":true})"), text) == Paths{"v1.f as null"});
  CHECK(lost_between(of(R"({"type":"object","properties":{"x":{}}})"), text) == Paths{"v1.f as object"});
  CHECK(lost_between(of(R"({"properties":{"x":{}}})"), of(R"({"type":"object"})")) == Paths{"v1.f.x"});
  CHECK(lost_between(of("{}"), text) == Paths{"v1.f as anything"});
  CHECK(lost_between(text, of("{}")).empty());
  const auto open = of(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})");
  CHECK(lost_between(open, of(R"({"type":"object"})")) == Paths{"v1.f.*"});
  CHECK(lost_between(text, open) == Paths{"v1.f as string"});
}

TEST_CASE("what only the second definition requires is told, unless it has a default") {
  const auto may = definition(R"({"properties":{"a":{},"b":{}},"required":["b"]})");
  const auto must = definition(R"({"properties":{"a":{},"b":{}},"required":["a","b"]})");
  CHECK(lost_between(may, must) == Paths{"v1 without a"});
  CHECK(lost_between(must, may).empty());
  CHECK(lost_between(may, definition(R"({"properties":{"a":{"default":"x"},"b":{}},"required":["a","b"]})")).empty());
}

TEST_CASE("a subresource that only the first definition has is told") {
  const auto with = json::parse(R"({"spec":{"versions":[{"name":"v1","served":true,"subresources":{"status":{}}}]}})");
  const auto without = json::parse(R"({"spec":{"versions":[{"name":"v1","served":true}]}})");
  CHECK(lost_between(with, without) == Paths{"v1/status"});
  CHECK(lost_between(without, with).empty());
}

}  // namespace
