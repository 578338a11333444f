// core/v1 NodeSelectors: every operator on what it must and must not match, and every mistake with its words.
#include "core/common/node_selector.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

/// A selector of one term; the requirements are JSON lists.
json::object selector(std::string_view expressions, std::string_view fields = "[]") {
  return parse_value(R"({"nodeSelectorTerms": [{"matchExpressions": )" + std::string(expressions) +
                     R"(, "matchFields": )" + std::string(fields) + "}]}")
      .get_object();
}

bool matches(const json::object& tree, std::string_view labels, std::string_view name = "milan") {
  const auto parsed = NodeSelector::parse(tree);
  INFO(json::serialize(tree));
  REQUIRE(parsed.has_value());
  return parsed->matches(name, parse_value(labels).get_object());
}

}  // namespace

TEST_CASE("each operator matches as the Kubernetes scheduler does") {
  struct Case {
    const char* title;
    const char* requirement;
    const char* labels;
    bool expected;
  };
  const Case cases[] = {
      {"In: listed", R"({"key": "region", "operator": "In", "values": ["a", "b"]})", R"({"region": "b"})", true},
      {"In: not listed", R"({"key": "region", "operator": "In", "values": ["a"]})", R"({"region": "b"})", false},
      {"In: absent", R"({"key": "region", "operator": "In", "values": ["a"]})", "{}", false},
      {"In: empty value", R"({"key": "region", "operator": "In", "values": [""]})", R"({"region": ""})", true},
      {"In: not a string", R"({"key": "region", "operator": "In", "values": ["1"]})", R"({"region": 1})", false},
      {"NotIn: listed", R"({"key": "region", "operator": "NotIn", "values": ["a"]})", R"({"region": "a"})", false},
      {"NotIn: other", R"({"key": "region", "operator": "NotIn", "values": ["a"]})", R"({"region": "b"})", true},
      {"NotIn: absent", R"({"key": "region", "operator": "NotIn", "values": ["a"]})", "{}", true},
      {"Exists: there", R"({"key": "gpu", "operator": "Exists"})", R"({"gpu": ""})", true},
      {"Exists: absent", R"({"key": "gpu", "operator": "Exists", "values": []})", "{}", false},
      {"DoesNotExist: there", R"({"key": "gpu", "operator": "DoesNotExist"})", R"({"gpu": "x"})", false},
      {"DoesNotExist: absent", R"({"key": "gpu", "operator": "DoesNotExist"})", "{}", true},
      {"Gt: more", R"({"key": "n", "operator": "Gt", "values": ["5"]})", R"({"n": "10"})", true},
      {"Gt: equal", R"({"key": "n", "operator": "Gt", "values": ["5"]})", R"({"n": "5"})", false},
      {"Gt: no number", R"({"key": "n", "operator": "Gt", "values": ["5"]})", R"({"n": "many"})", false},
      {"Gt: absent", R"({"key": "n", "operator": "Gt", "values": ["-5"]})", "{}", false},
      {"Gt: signed", R"({"key": "n", "operator": "Gt", "values": ["+5"]})", R"({"n": "6"})", true},
      {"Lt: less", R"({"key": "n", "operator": "Lt", "values": ["5"]})", R"({"n": "-1"})", true},
      {"Lt: more", R"({"key": "n", "operator": "Lt", "values": ["5"]})", R"({"n": "6"})", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    CHECK(matches(selector("[" + std::string(c.requirement) + "]"), c.labels) == c.expected);
  }
}

TEST_CASE("terms are alternatives, requirements of one term all hold, and an empty term matches nothing") {
  const auto two = parse_value(R"({"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "c", "operator": "Exists"}]}]})")
                       .get_object();
  CHECK(matches(two, R"({"a": "", "b": ""})"));
  CHECK(matches(two, R"({"c": ""})"));
  CHECK_FALSE(matches(two, R"({"a": ""})"));
  CHECK_FALSE(matches(parse_value(R"({"nodeSelectorTerms": [{}]})").get_object(), R"({"a": ""})"));
  CHECK_FALSE(matches(parse_value(R"({"nodeSelectorTerms": [null]})").get_object(), R"({"a": ""})"));
}

TEST_CASE("the one field is the name of the node") {
  const auto in = selector("[]", R"([{"key": "metadata.name", "operator": "In", "values": ["milan"]}])");
  CHECK(matches(in, "{}", "milan"));
  CHECK_FALSE(matches(in, "{}", "turin"));
  const auto not_in = selector("[]", R"([{"key": "metadata.name", "operator": "NotIn", "values": ["milan"]}])");
  CHECK_FALSE(matches(not_in, "{}", "milan"));
  CHECK(matches(not_in, "{}", "turin"));
}

TEST_CASE("a selector without terms is empty, and matches nothing itself") {
  for (const char* text : {"{}", R"({"nodeSelectorTerms": []})", R"({"nodeSelectorTerms": null})"}) {
    const auto parsed = NodeSelector::parse(parse_value(text).get_object());
    REQUIRE(parsed.has_value());
    CHECK(parsed->empty());
    CHECK_FALSE(parsed->matches("milan", {}));
  }
}

TEST_CASE("what is wrong is told with its place") {
  const auto problem = [](const json::object& tree) {
    const auto parsed = NodeSelector::parse(tree);
    return parsed ? std::string("valid") : parsed.error().text();
  };
  const std::string at_first = "nodeSelectorTerms[0].matchExpressions[0]: ";
  struct Case {
    const char* requirement;
    const char* problem;
  };
  const Case cases[] = {
      {R"({"key": "a", "operator": "Exists", "values": ["x"]})", "Exists takes no values"},
      {R"({"key": "a", "operator": "DoesNotExist", "values": ["x"]})", "DoesNotExist takes no values"},
      {R"({"key": "a", "operator": "In"})", "In needs at least one value"},
      {R"({"key": "a", "operator": "NotIn", "values": []})", "NotIn needs at least one value"},
      {R"({"key": "a", "operator": "In", "values": ["no spaces"]})", "\"no spaces\" cannot be the value of a label"},
      {R"({"key": "a", "operator": "Gt", "values": ["1", "2"]})", "Gt needs exactly one value"},
      {R"({"key": "a", "operator": "Lt", "values": ["one"]})", "Lt needs an integer, not \"one\""},
      {R"({"key": "a", "operator": "Gt", "values": ["1.5"]})", "Gt needs an integer, not \"1.5\""},
      {R"({"key": "a", "operator": "Like", "values": ["x"]})",
       "operator \"Like\" is none of In, NotIn, Exists, DoesNotExist, Gt and Lt"},
      {R"({"key": "a"})", "operator \"\" is none of In, NotIn, Exists, DoesNotExist, Gt and Lt"},
      {R"({"key": "", "operator": "Exists"})", "\"\" is not the key of a label"},
      {R"({"key": "a/b/c", "operator": "Exists"})", "\"a/b/c\" is not the key of a label"},
      {R"({"key": "A.b/", "operator": "Exists"})", "\"A.b/\" is not the key of a label"},
      {R"({"key": "a", "operator": "In", "values": "x"})", "values must be a list"},
      {R"({"key": "a", "operator": "In", "values": [1]})", "values must be strings"},
      {R"("a")", "must be an object with key and operator"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.requirement);
    CHECK(problem(selector("[" + std::string(c.requirement) + "]")) == at_first + c.problem);
  }
  CHECK(problem(selector(R"([{"key": "ok.example/a", "operator": "Exists"}, {"key": "a", "operator": "In"}])")) ==
        "nodeSelectorTerms[0].matchExpressions[1]: In needs at least one value");
  const std::string at_field = "nodeSelectorTerms[0].matchFields[0]: ";
  CHECK(problem(selector("[]", R"([{"key": "spec.x", "operator": "In", "values": ["a"]}])")) ==
        at_field + "key must be metadata.name, and is \"spec.x\"");
  CHECK(problem(selector("[]", R"([{"key": "metadata.name", "operator": "Exists"}])")) ==
        at_field + "a field can only be matched with In and NotIn");
  CHECK(problem(selector("[]", R"([{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}])")) ==
        at_field + "a field needs exactly one value");
  CHECK(problem(selector("{}")) == "nodeSelectorTerms[0].matchExpressions: must be a list");
  CHECK(problem(parse_value(R"({"nodeSelectorTerms": [3]})").get_object()) ==
        "nodeSelectorTerms[0]: must be an object");
  CHECK(problem(parse_value(R"({"nodeSelectorTerms": {}})").get_object()) == "nodeSelectorTerms: must be a list");
}

}  // namespace liqo::core
