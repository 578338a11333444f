#include "kube/base/json_arena.hpp"

#include <doctest/doctest.h>

using namespace kube;

namespace {

/// How many values a tree has, as it is.
std::size_t values_of(const json::value& tree) {
  std::size_t count = 1;
  if (const auto* list = tree.if_array())
    for (const json::value& each : *list) count += values_of(each);
  if (const auto* object = tree.if_object())
    for (const auto& [key, each] : *object) count += values_of(each);
  return count;
}

}  // namespace

TEST_CASE("the values of a JSON text are not more than are counted") {
  const struct {
    std::string text;
    std::size_t at_least;  ///< what is counted where strings are told apart
  } cases[] = {
      {"1", 1},
      {"[]", 2},
      {"[1,2,[3]]", 5},
      {R"({"a":{"b":[true,null]},"c":"d"})", 6},
      {R"(["a,b,c{[","\\\",,,","\\"])", 4},
      {"[" + std::string(1000, '[') + std::string(1000, ']') + "]", 1002},
      {R"({"data":")" + std::string(1000, ',') + R"("})", 2},
  };
  for (const auto& each : cases) {
    CAPTURE(each.text.substr(0, 60));
    CHECK(count_values(each.text, 0) == each.at_least);
    CHECK(count_values(each.text, 1'000'000) >= each.at_least);
    const auto tree = parse_json(each.text, 2000);
    REQUIRE(tree.has_value());
    CHECK(values_of(*tree) <= each.at_least);
  }
}

TEST_CASE("what is cut short or no JSON is counted all the same") {
  for (const char* text : {"", "[1,", "\"", "\"\\", "{{{{", "]]]]"}) CHECK(count_values(text, 0) >= 1);
}

TEST_CASE("what stands at a path is read alike from a value and from an object, which is not copied") {
  const json::object tree{{"spec", json::object{{"replicas", 3}, {"paused", true}, {"names", {"a", "b"}}}}};
  const json::value value(tree);
  CHECK(int_at(tree, {"spec", "replicas"}) == 3);
  CHECK(int_at(value, {"spec", "replicas"}) == 3);
  CHECK(int_at(tree, {"spec", "paused"}, 7) == 7);
  CHECK(bool_at(tree, {"spec", "paused"}));
  CHECK(bool_at(value, {"spec", "paused"}));
  CHECK(bool_at(tree, {"spec", "replicas"}, true));
  using Read = bool (*)(const json::object&, std::initializer_list<std::string_view>, bool);
  const Read without_a_copy = &bool_at;
  CHECK(without_a_copy(tree, {"spec", "paused"}, false));

  CHECK(strings_in({"a", 1, "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(read_strings(*find(tree, {"spec", "names"})) == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(read_strings(json::array{"a", 1}));
  CHECK_FALSE(read_strings(value));
}

TEST_CASE("an object that is there is found without moving the fields of a full parent") {
  json::object tree{{"spec", json::object()}};
  while (tree.size() < tree.capacity()) tree[std::to_string(tree.size())] = nullptr;
  const json::object* spec = tree.at("spec").if_object();
  CHECK(&ensure_object(tree, "spec") == spec);
  CHECK(tree.size() == tree.capacity());
}
