// The YAML writer: block style, and any reader gets the same tree back.
#include <doctest/doctest.h>

#include "text/yaml.hpp"

namespace {

using namespace liqoctl::text;
namespace json = kube::json;

TEST_CASE("a manifest is written as people write it") {
  const json::value manifest = json::parse(R"({"kind":"ResourceSlice","apiVersion":"authentication.liqo.io/v1beta1",
    "metadata":{"name":"gpu-pool","labels":{"liqo.io/replication":"true"}},
    "spec":{"class":"default","resources":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"2"},"list":[1,{"a":"b","c":[true,"x"]},["m"]],
    "empty":{},"none":[],"nothing":null}})");
  CHECK(yaml(manifest) == R"(apiVersion: authentication.liqo.io/v1beta1
kind: ResourceSlice
metadata:
  labels:
    liqo.io/replication: "true"
  name: gpu-pool
spec:
  class: default
  empty: {}
  list:
  - 1
  - a: b
    c:
    - true
    - x
  -
    - m
  none: []
  nothing: null
  resources:
    cpu: "4"
    memory: 8Gi
    nvidia.com/gpu: "2"
)");
}

TEST_CASE("strings that would read as something else are quoted") {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& one : {Case{"plain", "plain"},
                          Case{"", "\"\""},
                          Case{"true", "\"true\""},
                          Case{"No", "\"No\""},
                          Case{"null", "\"null\""},
                          Case{"~", "\"~\""},
                          Case{"12", "\"12\""},
                          Case{"1e3", "\"1e3\""},
                          Case{"0x1F", "\"0x1F\""},
                          Case{"-", "\"-\""},
                          Case{"1.5", "\"1.5\""},
                          Case{"12:30", "\"12:30\""},
                          Case{"8Gi", "8Gi"},
                          Case{"500m", "500m"},
                          Case{"a: b", "\"a: b\""},
                          Case{"a #b", "\"a #b\""},
                          Case{"a:", "\"a:\""},
                          Case{"#a", "\"#a\""},
                          Case{"- a", "\"- a\""},
                          Case{"[a", "\"[a\""},
                          Case{"*a", "\"*a\""},
                          Case{" a", "\" a\""},
                          Case{"a ", "\"a \""},
                          Case{"a\tb", "\"a\\tb\""},
                          Case{"liqo.io/x", "liqo.io/x"},
                          Case{"https://a:6443", "https://a:6443"},
                          Case{"10.0.0.1", "\"10.0.0.1\""},
                          Case{"2026-11-21", "\"2026-11-21\""},
                          Case{".inf", "\".inf\""}}) {
    CAPTURE(one.text);
    CHECK(yaml(json::value(one.text)) == std::string(one.expected) + "\n");
  }
}

TEST_CASE("text of several lines is a literal block") {
  CHECK(yaml(json::object{{"key", "-----BEGIN-----\nabc\n\n-----END-----\n"}}) ==
        "key: |\n  -----BEGIN-----\n  abc\n\n  -----END-----\n");
  CHECK(yaml(json::object{{"key", "a\nb"}}) == "key: |-\n  a\n  b\n");
  CHECK(yaml(json::object{{"key", "a \nb"}}) == "key: \"a \\nb\"\n");
  CHECK(yaml(json::object{{"key", "a\n\n"}}) == "key: \"a\\n\\n\"\n");
}

TEST_CASE("JSON is indented by two") {
  CHECK(pretty_json(json::parse(R"({"b":1,"a":[{"c":"d"}],"e":{}})")) ==
        "{\n  \"b\": 1,\n  \"a\": [\n    {\n      \"c\": \"d\"\n    }\n  ],\n  \"e\": {}\n}\n");
}

}  // namespace
