#include "kube/base/json_arena.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/random_doubles.hpp"

using namespace kube;
using kube::testing::digits_of;
using kube::testing::random_doubles;

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
    std::size_t at_least;  ///< the count that leaves out what is in strings
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

TEST_CASE("every floating-point number is read and written to its last bit") {
  for (const double number : random_doubles(10'000)) {
    const std::string text = digits_of(number);
    CAPTURE(text);
    for (const auto& tree : {parse_json(text), parse_json_arena(text)}) {
      REQUIRE(tree);
      // What has no fraction may be an integer.
      REQUIRE(json::value_to<double>(*tree) == number);
      CHECK(std::strtod(json::serialize(*tree).c_str(), nullptr) == number);
    }
  }
}

TEST_CASE("numbers of every form are read as what they are") {
  const struct {
    const char* text;
    json::value is;
  } cases[] = {
      {"0", 0},
      {"-0", 0},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
      {"18446744073709551616", 18446744073709551616.0},
      {"-9223372036854775809", -9223372036854775809.0},
      {"99.99999999999999", 99.99999999999999},
      {"123456789.123456789", 123456789.123456789},
      {"1.0", 1.0},
      {"1E2", 100.0},
      {"0e400", 0.0},
      {"5e-324", 5e-324},
      {"2.2250738585072014e-308", 2.2250738585072014e-308},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {"1e-400", 0.0},
      {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
  };
  for (const auto& each : cases) {
    CAPTURE(each.text);
    const auto read = parse_json(each.text);
    REQUIRE(read);
    CHECK(*read == each.is);
    CHECK(read->kind() == each.is.kind());
  }
  const auto nothing = parse_json("-1e-400");
  REQUIRE(nothing);
  CHECK(std::signbit(nothing->as_double()));
}

TEST_CASE("a number without end is no JSON, because it could not be written again") {
  for (const char* text : {"1e400", "-1e400", "[1,1e309]", R"({"a":1.8e308})", "1e2147483648"}) {
    CAPTURE(text);
    const auto read = parse_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == Errc::parse);
    CHECK(read.error().text().ends_with("a number is too large"));
  }
}
