// The patch formats, as tables.
#include "testing/fake/patch.hpp"
#include "fixture.hpp"

using namespace kube;
using namespace kube::testing;

TEST_CASE("merge patches merge as RFC 7386 says") {
  struct Case {
    const char *target, *patch, *result;
  };
  // Cases of the RFC's appendix A.
  const Case cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", "{}"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"(["a","b"])", R"(["c"])", R"(["c"])"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.patch);
    json::value target = json::parse(c.target);
    merge_patch(target, json::parse(c.patch));
    CHECK(target == json::parse(c.result));
  }
}

TEST_CASE("JSON patches do what RFC 6902 says, or refuse") {
  struct Case {
    const char *target, *patch, *result;  ///< result null: refused
  };
  const Case cases[] = {
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])", nullptr},
      {R"({"a":1})", R"([{"op":"add","path":"/x/y","value":2}])", nullptr},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])", nullptr},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":5}])", R"({"a":5})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":5}])", nullptr},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1},{"op":"replace","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2},{"op":"replace","path":"/a","value":2}])", nullptr},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":2}])", nullptr},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
      {R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":1,"b":1})"},
      {R"({"m":{"x/y":1,"t~u":2}})", R"([{"op":"remove","path":"/m/x~1y"},{"op":"remove","path":"/m/t~0u"}])",
       R"({"m":{}})"},
      {R"({"a":1})", R"([{"op":"frob","path":"/a"}])", nullptr},
      {R"({"a":1})", R"({"op":"add"})", nullptr},
  };
  for (const Case& c : cases) {
    CAPTURE(c.patch);
    json::value target = json::parse(c.target);
    const auto done = json_patch(target, json::parse(c.patch));
    CHECK(done.has_value() == (c.result != nullptr));
    if (done && c.result) CHECK(target == json::parse(c.result));
  }
}

TEST_CASE("strategic merge patches merge lists by their keys") {
  struct Case {
    const char *title, *target, *patch, *result;
  };
  const Case cases[] = {
      {"conditions by type",
       R"({"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"X","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"True"}]}})"},
      {"a condition deleted", R"({"status":{"conditions":[{"type":"Ready"},{"type":"X"}]}})",
       R"({"status":{"conditions":[{"$patch":"delete","type":"Ready"}]}})",
       R"({"status":{"conditions":[{"type":"X"}]}})"},
      {"containers by name, new ones appended", R"({"spec":{"containers":[{"name":"a","image":"1"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b","image":"3"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b","image":"3"}]}})"},
      {"taints are atomic", R"({"spec":{"taints":[{"key":"a"}]}})", R"({"spec":{"taints":[{"key":"b"}]}})",
       R"({"spec":{"taints":[{"key":"b"}]}})"},
      {"container statuses are atomic", R"({"status":{"containerStatuses":[{"name":"a"},{"name":"b"}]}})",
       R"({"status":{"containerStatuses":[{"name":"b","ready":true}]}})",
       R"({"status":{"containerStatuses":[{"name":"b","ready":true}]}})"},
      {"addresses of a node by type", R"({"status":{"addresses":[{"type":"InternalIP","address":"1"}]}})",
       R"({"status":{"addresses":[{"type":"Hostname","address":"h"}]}})",
       R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},{"type":"Hostname","address":"h"}]}})"},
      {"finalizers are a set", R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"finalizers":["a","b"]}})"},
      {"a finalizer taken away", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})", R"({"metadata":{"finalizers":["b"]}})"},
      {"a map replaced", R"({"m":{"a":1,"b":2}})", R"({"m":{"$patch":"replace","c":3}})", R"({"m":{"c":3}})"},
      {"null removes", R"({"m":{"a":1,"b":2}})", R"({"m":{"a":null}})", R"({"m":{"b":2}})"},
      {"capacity merges by resource", R"({"status":{"capacity":{"cpu":"1","gpu":"4"}}})",
       R"({"status":{"capacity":{"cpu":"2","gpu":null}}})", R"({"status":{"capacity":{"cpu":"2"}}})"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    json::object target = json::parse(c.target).as_object();
    strategic_merge(target, json::parse(c.patch).as_object());
    CHECK(json::value(target) == json::parse(c.result));
  }
}

TEST_CASE("server-side apply sets what it names, removes what it named before, and keeps the rest") {
  Fixture f;
  f.create(resources::pods, Fixture::pod("a"));
  f.patch(resources::pods, "a", {PatchType::merge, R"({"metadata":{"labels":{"foreign":"1"}}})"});
  const auto apply = [&f](std::string_view labels, std::string_view manager, bool force) {
    WriteOptions options;
    options.field_manager = manager;
    return f.ask(request::patch(
        resources::pods, {"d", "a"},
        {PatchType::apply,
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":)" + std::string(labels) + "}}", force},
        options));
  };
  const Said first = apply(R"({"x":"1","y":"2"})", "m", true);
  CHECK(first.code == 200);
  CHECK(*find(first.body, {"metadata", "labels"}) == json::parse(R"({"foreign":"1","x":"1","y":"2"})"));
  CHECK(apply(R"({"x":"1","y":"2"})", "m", true).version() == first.version());
  CHECK(*find(apply(R"({"y":"3"})", "m", true).body, {"metadata", "labels"}) ==
        json::parse(R"({"foreign":"1","y":"3"})"));
  CHECK(apply(R"({"y":"4"})", "other", false).code == 409);
  CHECK(apply(R"({"y":"4"})", "other", true).text({"metadata", "labels", "y"}) == "4");
  CHECK(apply(R"({"y":"4"})", "", true).code == 400);
}

TEST_CASE("server-side apply creates what is not there, but not through a UID or a subresource") {
  Fixture f;
  WriteOptions options;
  options.field_manager = "m";
  const std::string body =
      R"({"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"w","namespace":"d"},"spec":{"size":1}})";
  CHECK(f.patch(widgets, "w", {PatchType::apply, body}, options).code == 201);
  CHECK(f.patch(widgets, "w", {PatchType::apply, body}, options).code == 200);
  const std::string with_uid =
      R"({"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"v","namespace":"d","uid":"u"}})";
  CHECK(f.patch(widgets, "v", {PatchType::apply, with_uid}, options).code == 404);
  WriteOptions status = options;
  status.subresource = "status";
  CHECK(f.patch(widgets, "v", {PatchType::apply, body}, status).code == 404);
}

TEST_CASE("a custom resource takes no strategic merge patch") {
  Fixture f;
  f.create(widgets, Fixture::widget("w"));
  CHECK(f.patch(widgets, "w", {PatchType::strategic_merge, "{}"}).code == 415);
}
