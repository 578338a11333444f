#include "kube/k8s/selector.hpp"

#include <doctest/doctest.h>

using namespace kube;

TEST_CASE("selectors match as the API server's do") {
  const json::object object = json::parse(R"({"metadata":{"name":"a","labels":{"color":"red","size":"","age":"4"}},
    "spec":{"nodeName":"n1","unschedulable":false,"size":4}})")
                                  .as_object();
  struct Case {
    const char* labels;
    const char* fields;
    bool matches;
  };
  for (const Case& c : {Case{"", "", true},
                        Case{"color", "", true},
                        Case{"!color", "", false},
                        Case{"color=red", "", true},
                        Case{"color==red", "", true},
                        Case{"color!=red", "", false},
                        Case{"shape!=round", "", true},
                        Case{"color in (blue, red)", "", true},
                        Case{"color notin (blue,red)", "", false},
                        Case{"color=red,shape", "", false},
                        Case{"size=", "", true},
                        Case{"", "spec.nodeName=n1", true},
                        Case{"", "spec.nodeName=", false},
                        Case{"", "spec.nodeName!=n2,metadata.name=a", true},
                        Case{"", "status.phase=", true},
                        Case{"", "spec.unschedulable=false", true},
                        Case{"", "spec.unschedulable!=false", false},
                        Case{"", "spec.unschedulable=true", false},
                        Case{"", "spec.size=4", true},
                        Case{"", "spec.size=5", false},
                        Case{"age>3", "", true},
                        Case{"age > 4", "", false},
                        Case{"age<5", "", true},
                        Case{"age<4", "", false},
                        Case{"color>3", "", false},
                        Case{"shape>3", "", false},
                        Case{"shape<3", "", false}}) {
    CAPTURE(c.labels);
    CAPTURE(c.fields);
    const auto selector = Selector::parse(c.labels, c.fields);
    REQUIRE(selector);
    CHECK(selector->matches(object) == c.matches);
  }
  for (const char* labels : {"color in red", "color in (red", "a b", "=x", "age>old", "age>", ">3"}) {
    CAPTURE(labels);
    CHECK_FALSE(Selector::parse(labels, ""));
  }
  CHECK_FALSE(Selector::parse("", "spec.nodeName"));
}

TEST_CASE("an object is excluded by what it shows, and not by fields that it does not show") {
  const json::object object = json::parse(R"({"metadata":{"name":"a","labels":{"color":"red"}},
    "spec":{"nodeName":"n1","unschedulable":true}})")
                                  .as_object();
  struct Case {
    const char* labels;
    const char* fields;
    bool excludes;
  };
  for (const Case& c :
       {Case{"", "", false}, Case{"color=red", "spec.nodeName=n1", false}, Case{"color=blue", "", true},
        Case{"shape", "", true}, Case{"!color", "", true}, Case{"", "spec.nodeName=n2", true},
        Case{"", "spec.nodeName!=n1", true}, Case{"", "metadata.name=b", true}, Case{"", "spec.nodeName=", true},
        Case{"", "spec.unschedulable=false", true}, Case{"", "spec.unschedulable=true", false},
        Case{"", "spec.size=3", false}, Case{"", "status.phase=Running", false}, Case{"", "status.phase!=", false}}) {
    CAPTURE(c.labels);
    CAPTURE(c.fields);
    const auto selector = Selector::parse(c.labels, c.fields);
    REQUIRE(selector);
    CHECK(selector->excludes(object) == c.excludes);
  }
}
