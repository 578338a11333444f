// Values, merged as Helm does, and their check against the schema.
#include <doctest/doctest.h>

#include "template/schema.hpp"
#include "template/values.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

json::object object(const char* text) { return json::parse(text).as_object(); }

TEST_CASE("values are set by path, as Helm does") {
  json::object values;
  for (const char* one : {"a.b=1,a.c=x", "a.d=true", "l.app\\.kubernetes\\.io/x=y", "n=null", "q=a\\,b", "o=0123",
                          "t={a,2,true},u={}", "v={x\\,y}"})
    REQUIRE(chart::set_value(values, one));
  REQUIRE(chart::set_value(values, "a.e=1,s={1}", true));
  CHECK(json::serialize(values) ==
        R"({"a":{"b":1,"c":"x","d":true,"e":"1"},"l":{"app.kubernetes.io/x":"y"},"n":null,"q":"a,b","o":"0123",)"
        R"("t":["a",2,true],"u":[],"v":["x,y"],"s":["1"]})");
  for (const char* wrong : {"a", "=1", "a..b=1", "a=1,b", "a={1", "a={1}2", "a[0]=1"}) {
    CAPTURE(wrong);
    json::object scratch;
    CHECK_FALSE(chart::set_value(scratch, wrong));
  }
  json::object scratch;
  const auto by_number = chart::set_value(scratch, "l[0].a=1");
  CHECK(by_number.error().text().ends_with(
      "give the whole list, l={a,b}, or, if its elements are maps, a file of values (-f)"));
}

TEST_CASE("later values are put over earlier ones, and all over the chart's") {
  json::object values = object(R"({"a":{"b":1,"c":2},"q":[1,2]})");
  chart::overlay(values, object(R"({"a":{"b":3},"q":[3]})"));
  CHECK(values == object(R"({"a":{"b":3,"c":2},"q":[3]})"));
  const auto defaults = object(R"({"a":{"b":0,"d":{"e":1}},"z":1,"y":{"x":1},"l":[1,2],"gone":{"x":1}})");
  CHECK(chart::with_defaults(object(R"({"a":{"b":2,"d":{"e":null}},"l":[3],"y":5,"gone":null,"own":1})"), defaults) ==
        object(R"({"a":{"b":2,"d":{}},"l":[3],"y":5,"own":1,"z":1})"));
}

constexpr const char* schema = R"({
  "$schema": "x", "title": "x", "type": "object", "additionalProperties": false, "required": ["id"],
  "definitions": {"port": {"type": "integer", "minimum": 1, "maximum": 9}},
  "properties": {
    "id": {"type": "string", "minLength": 1, "pattern": "^[a-z]*$"}, "port": {"$ref": "#/definitions/port"},
    "mode": {"enum": ["A", "B", true]}, "both": {"type": ["string", "number"]},
    "list": {"type": "array", "items": {"type": "boolean"}},
    "open": {"type": "object", "additionalProperties": {"type": "string"}},
    "free": {"type": "object"},
    "inner": {"type": "object", "additionalProperties": false, "properties": {"replicas": {"type": "integer"}}}
  }})";

TEST_CASE("values are held against the schema, and told by their paths") {
  for (const auto& [values, wanted] : std::vector<std::pair<const char*, const char*>>{
           {R"({"id":"a","port":9,"mode":"A","both":1.5,"list":[true],"open":{"x":"y"},"free":{"x":1}})", ""},
           {R"({})", "value id is missing"},
           {R"({"id":""})", "value id must not be empty"},
           {R"({"id":"A"})", "value id must match ^[a-z]*$, not be \"A\""},
           {R"({"id":1})", "value id must be a text, not 1"},
           {R"({"id":null})", "value id must be a text, not null"},
           {R"({"id":"a","port":0})", "value port must be at least 1"},
           {R"({"id":"a","port":10})", "value port must be at most 9"},
           {R"({"id":"a","port":1.5})", "value port must be a whole number, not 1.5E0"},
           {R"({"id":"a","mode":"C"})", "value mode must be A, B or true, not \"C\""},
           {R"({"id":"a","both":true})", "value both must be a text or a number, not true"},
           {R"({"id":"a","list":[true,1]})", "value list[1] must be true or false, not 1"},
           {R"({"id":"a","open":{"x":1}})", "value open.x must be a text, not 1"},
           {R"({"id":"a","prot":1})", "value prot is not known: did you mean port?"},
           {R"({"id":"a","replicas":1})", "value replicas is not known: did you mean inner.replicas?"},
           {R"({"id":"a","inner":{"replica":1}})", "value inner.replica is not known: did you mean inner.replicas?"},
           {R"({"id":"a","something":1})", "value something is not known"},
           {"{\"id\":\"a\",\"x\\u001b[2J\":1}", "value x?[2J is not known"},
       }) {
    CAPTURE(values);
    const auto findings = chart::check_values(object(schema), json::parse(values));
    REQUIRE(findings);
    CHECK((findings->empty() ? "" : findings->front()) == std::string(wanted));
  }
  CHECK(chart::check_values(object(schema), json::parse(R"({"port":0,"x":1})"))->size() == 3);
  CHECK_FALSE(chart::check_values(object(R"({"oneOf":[]})"), 1));
}

}  // namespace
