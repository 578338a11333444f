// Which labels and annotations of a copy follow the object at home, and which are those of others.
#include "core/common/meta.hpp"

#include "../objects.hpp"

namespace liqo::core {

using namespace testing;

TEST_CASE("a copy gets what is wanted and loses what reflection had set; what others have set stays") {
  struct Case {
    std::string_view title, live, labels, annotations, patch;
    bool owns_unlisted = false;
  };
  const std::string_view by_go = R"({"labels": {"a": "1", "b": "2", "liqo.io/creator-user": "rome"},
    "annotations": {"c": "3", "offloading.liqo.io/applied-spec": "x"}})";
  for (const Case& c :
       {Case{"equal", R"({"labels": {"a": "1"}, "annotations": {"c": "3"}})", R"({"a": "1"})", R"({"c": "3"})", "{}"},
        Case{"no metadata", "{}", R"({"a": "1"})", R"({"c": "3"})", R"({"labels":{"a":"1"},"annotations":{"c":"3"}})"},
        Case{"another value", R"({"labels": {"a": "1"}})", R"({"a": "2"})", "{}", R"({"labels":{"a":"2"}})"},
        Case{"set by an earlier reflection",
             R"({"labels": {"a": "1", "b": "2", "theirs": "x"},
                 "annotations": {"offloading.liqo.io/reflected-keys": "a,b;c", "c": "3", "theirs": "x"}})",
             R"({"a": "1"})", "{}", R"({"labels":{"b":null},"annotations":{"c":null}})"},
        Case{"listed and gone already", R"({"annotations": {"offloading.liqo.io/reflected-keys": "a,b;c"}})", "{}",
             "{}", "{}"},
        Case{"a list of labels alone",
             R"({"labels": {"a": "1"}, "annotations": {"offloading.liqo.io/reflected-keys": "a,b", "a": "x"}})", "{}",
             "{}", R"({"labels":{"a":null}})"},
        Case{"the provider's own, though it is listed",
             R"({"annotations": {"offloading.liqo.io/reflected-keys": ";offloading.liqo.io/applied-spec",
                                 "offloading.liqo.io/applied-spec": "x"}})",
             "{}", "{}", "{}"},
        Case{"no list, owned", by_go, R"({"a": "1"})", "{}", R"({"labels":{"b":null},"annotations":{"c":null}})", true},
        Case{"no list, not owned", by_go, R"({"a": "1"})", "{}", "{}"},
        Case{"of the wrong form", R"({"labels": [], "annotations": "x"})", R"({"a": "1"})", "{}",
             R"({"labels":{"a":"1"}})"}}) {
    CAPTURE(c.title);
    const kube::Object live(json::object{{"metadata", parse_value(c.live)}});
    const json::value labels = parse_value(c.labels), annotations = parse_value(c.annotations);
    CHECK(json::serialize(metadata_patch(live, labels.get_object(), annotations.get_object(), c.owns_unlisted)) ==
          c.patch);
  }
}

TEST_CASE("what a copy has from reflection is known from the list that it was given") {
  const json::object labels{{"a", "1"}, {"b", "2"}, {"offloading.liqo.io/origin", "rome"}};
  json::object annotations{{"c", "3"}};
  annotations["offloading.liqo.io/reflected-keys"] = reflected_keys(labels, annotations);
  CHECK(annotations["offloading.liqo.io/reflected-keys"] == "a,b;c");
  kube::Object copy = parse(R"({"metadata": {"name": "web"}})");
  copy.mutable_metadata()["labels"] = labels;
  copy.mutable_metadata()["annotations"] = annotations;
  CHECK(metadata_patch(copy, labels, annotations, false).empty());
  const json::object kept{{"b", "2"}, {"offloading.liqo.io/origin", "rome"}};
  CHECK(json::serialize(metadata_patch(copy, kept, annotations, false)) == R"({"labels":{"a":null}})");
}

}  // namespace liqo::core
