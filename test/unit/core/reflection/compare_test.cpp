// The default comparison: what is stored contains what is wanted.
#include <array>

#include "objects.hpp"

namespace liqo::core::reflection {

TEST_CASE("what is stored contains what is wanted, key by key") {
  struct Case {
    const char *title, *live, *wanted;
    bool contained;
  };
  for (const Case& c : {
           Case{"equal", R"({"a": 1, "b": {"c": "x"}})", R"({"a": 1, "b": {"c": "x"}})", true},
           Case{"another value", R"({"a": 1})", R"({"a": 2})", false},
           Case{"another type", R"({"a": 1})", R"({"a": "1"})", false},
           Case{"a map, where a text is wanted", R"({"a": {}})", R"({"a": "x"})", false},
           Case{"a text, where a map is wanted", R"({"a": "x"})", R"({"a": {"b": 1}})", false},
           Case{"more than wanted", R"({"a": 1, "more": 2, "b": {"more": 1}})", R"({"a": 1, "b": {}})", true},
           Case{"less than wanted", R"({})", R"({"a": 1})", false},
           Case{"less in a map", R"({"b": {}})", R"({"b": {"a": 1}})", false},
           Case{"a whole map is missing", R"({})", R"({"b": {"a": 1}})", false},
           Case{"nothing is wanted", R"({})",
                R"({"a": null, "b": "", "c": 0, "d": false, "e": {}, "f": [], "g": {"h": ""}})", true},
           Case{"nothing is wanted, there is something", R"({"a": "x"})", R"({"a": ""})", false},
           Case{"no number is wanted, there is one", R"({"a": 3})", R"({"a": 0})", false},
           Case{"no is wanted, there is yes", R"({"a": true})", R"({"a": false})", false},
           Case{"no entry is wanted, there is one", R"({"a": [1]})", R"({"a": []})", false},
           Case{"lists have an order", R"({"a": [1, 2]})", R"({"a": [2, 1]})", false},
           Case{"a longer list", R"({"a": [1, 2, 3]})", R"({"a": [1, 2]})", false},
           Case{"a shorter list", R"({"a": [1]})", R"({"a": [1, 2]})", false},
           Case{"entries of a list with more in them", R"({"a": [{"b": 1, "filled": "in"}]})", R"({"a": [{"b": 1}]})",
                true},
           Case{"entries of a list with less", R"({"a": [{"b": 1}]})", R"({"a": [{"b": 1, "c": 2}]})", false},
       }) {
    CAPTURE(c.title);
    CHECK(contains(parse_value(c.live).get_object(), parse_value(c.wanted).get_object()) == c.contained);
  }
}

TEST_CASE("a merged list has the entries that are wanted, and others") {
  static constexpr std::array<std::string_view, 2> keys = {"port", "protocol"};
  static constexpr std::array<Schema::MergedList, 1> lists = {{{"spec.ports", keys}}};
  const auto holds = [&](const char* live, const char* wanted) {
    return contains({{"spec", {{"ports", parse_value(live)}}}}, {{"spec", {{"ports", parse_value(wanted)}}}},
                    {.merged_lists = lists, .atomic = {}});
  };
  const char* wanted =
      R"([{"port": 53, "protocol": "TCP", "name": "a"}, {"port": 53, "protocol": "UDP", "name": "b"}])";
  CHECK(holds(wanted, wanted));
  CHECK(holds(R"([{"port": 53, "protocol": "UDP", "name": "b", "nodePort": 3}, {"port": 9, "protocol": "TCP"},
                  {"port": 53, "protocol": "TCP", "name": "a"}])",
              wanted));
  CHECK_FALSE(holds(R"([{"port": 53, "protocol": "TCP", "name": "a"}])", wanted));
  CHECK_FALSE(
      holds(R"([{"port": 53, "protocol": "TCP", "name": "b"}, {"port": 53, "protocol": "UDP", "name": "a"}])", wanted));
  CHECK_FALSE(holds("[]", wanted));
  CHECK_FALSE(holds("3", wanted));
  CHECK(holds("[3]", "[3]"));
}

TEST_CASE("what is replaced whole has nothing of others in it") {
  constexpr std::array<std::string_view, 1> atomic = {"rules"};
  const auto holds = [&](const char* live, const char* wanted) {
    return contains(parse_value(live).get_object(), parse_value(wanted).get_object(),
                    {.merged_lists = {}, .atomic = atomic});
  };
  CHECK(holds(R"({"rules": [{"host": "a"}], "more": 1})", R"({"rules": [{"host": "a", "name": ""}]})"));
  CHECK_FALSE(holds(R"({"rules": [{"host": "a", "more": 1}]})", R"({"rules": [{"host": "a"}]})"));
}

TEST_CASE("the default compares all but the metadata") {
  const auto wanted = parse(R"({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"a": 1}})");
  CHECK(compare_contained(parse(R"({"metadata": {"name": "b"}, "spec": {"a": 1}, "status": {}})"), wanted) ==
        Comparison::same);
  CHECK(compare_contained(parse(R"({"metadata": {"name": "a"}, "spec": {"a": 2}})"), wanted) == Comparison::differs);
}

}  // namespace liqo::core::reflection
