#include "core/admission/patch.hpp"

#include <doctest/doctest.h>

#include "reviews.hpp"

using namespace liqo::core::admission;
using liqo::test::object_of;
namespace json = kube::json;

TEST_CASE("a label is set by the smallest patch") {
  const struct {
    std::string_view object, patch;
  } cases[] = {
      {R"({"metadata":{"labels":{"a/b~c":"v"}}})", "[]"},
      {R"({"metadata":{"labels":{"a/b~c":"w"}}})", R"([{"op":"add","path":"/metadata/labels/a~1b~0c","value":"v"}])"},
      {R"({"metadata":{"labels":{}}})", R"([{"op":"add","path":"/metadata/labels/a~1b~0c","value":"v"}])"},
      {R"({"metadata":{"labels":null}})", R"([{"op":"add","path":"/metadata/labels","value":{"a/b~c":"v"}}])"},
      {R"({"metadata":{}})", R"([{"op":"add","path":"/metadata/labels","value":{"a/b~c":"v"}}])"},
      {R"({"spec":{}})", R"([{"op":"add","path":"/metadata","value":{}},
                             {"op":"add","path":"/metadata/labels","value":{"a/b~c":"v"}}])"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.object);
    json::array patch;
    set_label(patch, object_of(each.object), "a/b~c", "v");
    CHECK(patch == json::parse(each.patch));
  }
}
