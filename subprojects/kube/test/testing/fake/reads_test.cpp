// List and watch: pages, selectors, versions, bookmarks, 410.
#include "fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

void make(Fixture& f, std::string_view name, std::string_view group = {}) {
  json::object sent = Fixture::widget(name);
  if (!group.empty()) sent["metadata"].as_object()["labels"] = json::object{{"group", group}};
  CHECK(f.create(widgets, sent).code == 201);
}

Lines names(const Said& list) {
  Lines all;
  for (const json::value& item : array_at(list.body, {"items"}))
    all.emplace_back(string_at(item, {"metadata", "name"}));
  return all;
}

}  // namespace

TEST_CASE("a paged list is consistent: what changes between the pages does not show") {
  Fixture f;
  for (const char* name : {"a", "b", "c", "d"}) make(f, name);
  ListOptions options;
  options.limit = 2;
  const Said first = f.ask(request::list(widgets, "d", options));
  CHECK(names(first) == Lines{"a", "b"});
  CHECK(int_at(first.body, {"metadata", "remainingItemCount"}) == 2);
  f.remove(widgets, "c");
  make(f, "cc");
  options.continue_token = first.text({"metadata", "continue"});
  const Said second = f.ask(request::list(widgets, "d", options));
  CHECK(names(second) == Lines{"c", "d"});
  CHECK(second.version() == first.version());
  CHECK(second.text({"metadata", "continue"}).empty());
  f.server.store().compact(f.server.store().version());
  const Said gone = f.ask(request::list(widgets, "d", options));
  CHECK(gone.code == 410);
  CHECK(gone.reason() == "Expired");
}

TEST_CASE("elements of built-in lists do not name their kind, those of custom ones do") {
  Fixture f;
  make(f, "a");
  f.create(resources::pods, Fixture::pod("a"));
  const Said pods = f.ask(request::list(resources::pods, "d", {}));
  CHECK(pods.text({"kind"}) == "PodList");
  CHECK_FALSE(find(array_at(pods.body, {"items"})[0], {"kind"}));
  CHECK(find(array_at(f.ask(request::list(widgets, "d", {})).body, {"items"})[0], {"kind"}));
}

TEST_CASE("a version from the future is refused with 504 and its cause") {
  Fixture f;
  ListOptions options;
  options.resource_version = "999999";
  const Said said = f.ask(request::list(widgets, "d", options));
  CHECK(said.code == 504);
  CHECK(string_at(array_at(said.body, {"details", "causes"})[0], {"reason"}) == "ResourceVersionTooLarge");
}

TEST_CASE("selectors select") {
  struct Case {
    const char* labels;
    const char* fields;
    Lines expected;
  };
  const Case cases[] = {
      {"", "", {"a", "b", "c"}},
      {"group=one", "", {"a"}},
      {"group==one", "", {"a"}},
      {"group!=one", "", {"b", "c"}},
      {"group", "", {"a", "b"}},
      {"!group", "", {"c"}},
      {"group in (one, two)", "", {"a", "b"}},
      {"group notin (one)", "", {"b", "c"}},
      {"group,group!=two", "", {"a"}},
      {"", "metadata.name=b", {"b"}},
      {"", "metadata.name!=b,metadata.namespace=d", {"a", "c"}},
  };
  Fixture f;
  make(f, "a", "one");
  make(f, "b", "two");
  make(f, "c");
  for (const Case& c : cases) {
    CAPTURE(c.labels);
    CAPTURE(c.fields);
    ListOptions options;
    options.selection = {c.labels, c.fields};
    CHECK(names(f.ask(request::list(widgets, "d", options))) == c.expected);
  }
  for (const Case& c : {Case{"a b c", "", {}}, {"x in (", "", {}}, {"", "spec.size=1", {}}, {"", "name", {}}}) {
    CAPTURE(c.labels);
    ListOptions options;
    options.selection = {c.labels, c.fields};
    CHECK(f.ask(request::list(widgets, "d", options)).code == 400);
  }
}

TEST_CASE("a watch goes on behind its version, and tells what enters and leaves its selection") {
  Fixture f;
  make(f, "a", "one");
  make(f, "b", "two");
  WatchOptions options;
  options.selection.label_selector = "group=one";
  options.resource_version = std::to_string(f.server.store().version());
  auto watch = f.watch(widgets, options);
  CHECK(Fixture::events(*watch).empty());
  f.patch(widgets, "a", {PatchType::merge, R"({"spec":{"size":2}})"});
  f.patch(widgets, "a", {PatchType::merge, R"({"metadata":{"labels":{"group":"two"}}})"});
  f.patch(widgets, "a", {PatchType::merge, R"({"spec":{"size":3}})"});
  f.patch(widgets, "b", {PatchType::merge, R"({"metadata":{"labels":{"group":"one"}}})"});
  f.remove(widgets, "b");
  CHECK(Fixture::events(*watch) == Lines{"MODIFIED a", "DELETED a", "ADDED b", "DELETED b"});
}

TEST_CASE("a watch without a version starts with the state; with sendInitialEvents a bookmark ends it") {
  Fixture f;
  make(f, "a");
  make(f, "b");
  WatchOptions plain;
  CHECK(Fixture::events(*f.watch(widgets, plain)) == Lines{"ADDED a", "ADDED b"});
  WatchOptions streamed;
  streamed.send_initial_events = true;
  auto watch = f.watch(widgets, streamed);
  CHECK(Fixture::events(*watch) == Lines{"ADDED a", "ADDED b", "BOOKMARK initial"});
  make(f, "c");
  CHECK(Fixture::events(*watch) == Lines{"ADDED c"});
  HttpRequest wrong = request::watch(widgets, "d", streamed);
  wrong.target.erase(wrong.target.find("&resourceVersionMatch"),
                     std::string("&resourceVersionMatch=NotOlderThan").size());
  CHECK(f.ask(wrong).code == 422);
}

TEST_CASE("the bookmark behind the state is of its version: what has changed meanwhile comes after it") {
  Fixture f;
  make(f, "a");
  const std::string opened = std::to_string(f.server.store().version());
  WatchOptions streamed;
  streamed.send_initial_events = true;
  auto watch = f.watch(widgets, streamed);
  make(f, "b");
  CHECK(watch->next()->find("ADDED") != std::string::npos);
  CHECK(watch->next()->find("\"resourceVersion\":\"" + opened + "\"") != std::string::npos);
  CHECK(watch->next()->find("\"name\":\"b\"") != std::string::npos);
}

TEST_CASE("a watch from a compacted version is one ERROR event of code 410") {
  Fixture f;
  make(f, "a");
  const std::string old = std::to_string(f.server.store().version());
  make(f, "b");
  f.server.store().compact(f.server.store().version());
  WatchOptions options;
  options.resource_version = old;
  auto watch = f.watch(widgets, options);
  CHECK(Fixture::events(*watch) == Lines{"ERROR 410"});
  CHECK(watch->ended());
}

TEST_CASE("bookmarks come once a minute, and the watch ends when its time is over") {
  Fixture f;
  WatchOptions options;
  options.resource_version = std::to_string(f.server.store().version());
  options.timeout = 150s;
  auto watch = f.watch(widgets, options);
  Lines seen;
  while (!watch->ended()) {
    f.clock.advance_to(watch->due());
    for (std::string& event : Fixture::events(*watch)) seen.push_back(std::move(event));
  }
  CHECK(seen == Lines{"BOOKMARK", "BOOKMARK"});
  CHECK(f.clock.wall() - VirtualClock::default_start == 150s);
}

TEST_CASE("discovery tells the versions of a group, and what each serves") {
  Fixture f;
  f.server.serve(Resource{"example.io", "v2", "widgets", "Widget"});
  f.server.serve(
      FakeKind{.group = "example.io", .version = "v2", .plural = "gears", .kind = "Gear", .namespaced = false});
  const auto get = [&f](std::string path) {
    HttpRequest request;
    request.target = std::move(path);
    return f.ask(request);
  };
  const Said group = get("/apis/example.io");
  CHECK(group.text({"kind"}) == "APIGroup");
  CHECK(group.text({"preferredVersion", "version"}) == "v1");
  Lines versions;
  for (const json::value& entry : array_at(group.body, {"versions"}))
    versions.emplace_back(string_at(entry, {"version"}));
  CHECK(versions == Lines{"v1", "v2"});
  const Said second = get("/apis/example.io/v2");
  CHECK(second.text({"groupVersion"}) == "example.io/v2");
  Lines served;
  for (const json::value& entry : array_at(second.body, {"resources"}))
    served.push_back(std::string(string_at(entry, {"name"})) + " " + std::string(string_at(entry, {"kind"})) +
                     (bool_at(entry, {"namespaced"}) ? " namespaced" : ""));
  CHECK(served == Lines{"gears Gear", "widgets Widget namespaced", "widgets/status Widget namespaced"});
  CHECK(array_at(get("/api?timeout=32s").body, {"versions"}) == json::array{"v1"});
  CHECK(get("/api/v1").text({"groupVersion"}) == "v1");
  const Said all = get("/apis");
  CHECK(all.text({"kind"}) == "APIGroupList");
  const auto& groups = array_at(all.body, {"groups"});
  CHECK(std::ranges::any_of(groups, [](const json::value& one) { return string_at(one, {"name"}) == "example.io"; }));
  CHECK(std::ranges::none_of(groups, [](const json::value& one) { return string_at(one, {"name"}).empty(); }));
  for (const char* path : {"/apis/example.io/v3", "/apis/other.io", "/apis/", "/apis/v1"}) CHECK(get(path).code == 404);
}

TEST_CASE("a kind whose definition is deleted takes its objects with it, until it is served again") {
  Fixture f;
  make(f, "a");
  WatchOptions options;
  options.resource_version = std::to_string(f.server.store().version());
  auto watch = f.watch(widgets, options);
  f.server.store().withdraw(widgets, "test");
  CHECK(Fixture::events(*watch) == Lines{"DELETED a"});
  CHECK(watch->ended());
  CHECK(!f.server.serves(widgets));
  CHECK(f.get(widgets, "a").code == 404);
  CHECK(f.create(widgets, Fixture::widget("b")).code == 404);
  CHECK(!f.server.create(widgets, Fixture::widget("b"), "test"));
  f.server.serve(widgets);
  CHECK(f.get(widgets, "a").code == 404);
  CHECK(f.create(widgets, Fixture::widget("b")).code == 201);
  CHECK(f.server.store().table(widgets).log.size() == 3);
}
