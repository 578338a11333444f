// Copies name their twin as their owner, so that GitOps tools leave them alone, and never a former twin.
#include "core/reflection/custom_resource.hpp"
#include "kube/testing/tree.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

constexpr const char* twin = "shop-rome";

const core::reflection::ReflectedKind& config_maps() { return *core::reflection::find_reflected_kind("ConfigMap"); }

struct Owned : World {
  explicit Owned(const core::reflection::ReflectedKind& reflected = config_maps(), std::string_view checks = "true")
      : World(reflected, controllers::forging(), true) {
    milan_transport.rewrite = [this](kube::HttpRequest& request) {
      if (request.method == "GET" && request.target.ends_with("/namespaces/shop-rome")) ++reads;
    };
    // As admission in milan does.
    milan_transport.refuses = [this](const kube::HttpRequest& request) {
      if (forbids && request.method == "GET" && request.target.ends_with("/namespaces/shop-rome")) return true;
      for (const std::string& former : formers)
        if (request.body.contains(former)) return true;
      return false;
    };
    make_twin(checks);
    milan.store().on_change([this](const kube::testing::FakeChange& change) {
      if (!change.after) return;
      for (const json::value& owner : kube::array_at(*change.after, {"metadata", "ownerReferences"}))
        for (const std::string& former : formers) has_former = has_former || kube::string_at(owner, {"uid"}) == former;
    });
  }
  ~Owned() { stop(); }
  void make_twin(std::string_view checks = "true") {
    json::object made{{"metadata", json::object{{"name", twin}}}};
    if (!checks.empty()) kube::testing::set_annotation(made, "offloading.liqo.io/checks-owners", checks);
    REQUIRE(milan.create(kube::resources::namespaces, made, actor));
  }
  std::string twin_uid() {
    return std::string(kube::string_at(*milan.get(kube::resources::namespaces, {"", twin}), {"metadata", "uid"}));
  }
  /// Somebody in milan deletes the twin, and it is made anew, which home does not see.
  void replace_twin() {
    const std::string former = twin_uid();
    milan_transport.words = "the metadata.ownerReferences of configmaps words name a Namespace of another UID";
    for (const auto& tree : milan.list(kind, twin))
      REQUIRE(milan.remove(kind, {twin, std::string(kube::string_at(*tree, {"metadata", "name"}))}, {}, actor));
    REQUIRE(milan.remove(kube::resources::namespaces, {"", twin}, {}, actor));
    REQUIRE(reaches([&] { return !milan.get(kube::resources::namespaces, {"", twin}); }));
    make_twin();
    REQUIRE(twin_uid() != former);
    formers.push_back(former);
  }
  /// The owners of a copy: "twin", "former", their UID, or "".
  std::string owners_of(const std::string& name, const kube::Resource& resource = kind) {
    const auto tree = milan.get(resource, {twin, name});
    if (!tree) return "(none)";
    std::string owners;
    for (const json::value& owner : kube::array_at(*tree, {"metadata", "ownerReferences"})) {
      CHECK_FALSE(owner.as_object().contains("controller"));
      CHECK_FALSE(owner.as_object().contains("blockOwnerDeletion"));
      const std::string uid(kube::string_at(owner, {"uid"}));
      owners += uid == twin_uid() ? "twin" : uid;
    }
    return owners;
  }

  int reads = 0;  ///< of the twin
  bool forbids = false;
  bool has_former = false;  ///< an object was stored that names a former twin
  std::vector<std::string> formers;
};

}  // namespace

TEST_CASE("copies name their twin as their owner, whose UID is read once") {
  Owned w;
  for (const char* name : {"one", "two", "three"}) w.create(name, "x");
  for (const char* name : {"one", "two", "three"}) {
    CHECK(w.reaches([&] { return w.at_milan(name) == "x"; }));
    CHECK(w.owners_of(name) == "twin");
  }
  w.set("one", "y");
  CHECK(w.reaches([&] { return w.at_milan("one") == "y"; }));
  CHECK(w.owners_of("one") == "twin");
  CHECK(w.reads == 1);
  const std::size_t writes = w.writes();
  w.pass(5min);
  CHECK(w.writes() == writes);
}

TEST_CASE("a twin that was made anew unseen is read again, and nothing is stored that names the former one") {
  Owned w;
  w.create("one", "x");
  REQUIRE(w.reaches([&] { return w.owners_of("one") == "twin"; }));
  w.replace_twin();
  w.create("two", "x");
  CHECK(w.reaches([&] { return w.owners_of("two") == "twin"; }, 10s));
  CHECK(w.reaches([&] { return w.owners_of("one") == "twin"; }, 30s));
  CHECK_FALSE(w.has_former);
  CHECK(w.reads == 2);
  CHECK(w.events("FailedReflection") == 0);
}

TEST_CASE("a provider that no longer checks owners gets none after ten minutes") {
  Owned w;
  w.create("one", "x");
  REQUIRE(w.reaches([&] { return w.owners_of("one") == "twin"; }));
  REQUIRE(w.milan.update(
      {kube::resources::namespaces, {"", twin}},
      [](json::object& tree) { kube::testing::set_annotation(tree, "offloading.liqo.io/checks-owners", "false"); },
      actor));
  w.pass(11min);
  w.create("two", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("two") == "x"; }));
  CHECK(w.owners_of("two") == "");
}

TEST_CASE("a twin whose entry was withdrawn meanwhile is read again") {
  Owned w;
  w.create("one", "x");
  REQUIRE(w.reaches([&] { return w.owners_of("one") == "twin"; }));
  w.owners.set_mapping({});
  w.create("two", "x");
  CHECK(w.reaches([&] { return w.owners_of("two") == "twin"; }));
  CHECK(w.reads == 2);
}

TEST_CASE("a right that comes late is asked for once more, after ten seconds") {
  Owned w;
  w.forbids = true;
  w.create("early", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("early") == "x"; }));
  CHECK(w.owners_of("early") == "");
  w.forbids = false;
  w.pass(11s);
  w.create("late", "x");
  CHECK(w.reaches([&] { return w.owners_of("late") == "twin"; }));
  CHECK(w.reads == 2);
}

TEST_CASE("without the right to read the twin there is no owner, and it is asked for once an hour") {
  Owned w;
  w.forbids = true;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "old-" + std::to_string(i);
    w.create(name, "x");
    REQUIRE(w.reaches([&] { return w.at_milan(name) == "x"; }));
    CHECK(w.owners_of(name) == "");
    w.pass(5min);
  }
  CHECK(w.reads == 2);
  // The provider is upgraded. What was there gets its owner with its next write, and nothing is written for it.
  w.forbids = false;
  w.pass(20min);
  const std::size_t writes = w.writes();
  w.create("new", "x");
  CHECK(w.reaches([&] { return w.owners_of("new") == "twin"; }));
  w.pass(2min);
  CHECK(w.writes() == writes + 1);
  CHECK(w.owners_of("old-1") == "");
  w.set("old-1", "y");
  CHECK(w.reaches([&] { return w.owners_of("old-1") == "twin"; }));
  CHECK(w.events("FailedReflection") == 0);
}

TEST_CASE("a provider that does not check owners, or refuses the right one, gets none") {
  SUBCASE("it does not say that it checks them") {
    Owned w(config_maps(), "");
    w.create("one", "x");
    REQUIRE(w.reaches([&] { return w.at_milan("one") == "x"; }));
    CHECK(w.owners_of("one") == "");
  }
  SUBCASE("it has switched its webhooks off") {
    Owned w(config_maps(), "false");
    w.create("one", "x");
    REQUIRE(w.reaches([&] { return w.at_milan("one") == "x"; }));
    CHECK(w.owners_of("one") == "");
  }
  SUBCASE("a policy there forbids owners") {
    Owned w;
    w.milan_transport.words = "ownerReferences are forbidden";
    w.milan_transport.refuses = [](const kube::HttpRequest& request) {
      return request.body.contains("ownerReferences");
    };
    w.create("one", "x");
    REQUIRE(w.reaches([&] { return w.at_milan("one") == "x"; }, 10s));
    CHECK(w.owners_of("one") == "");
    w.create("two", "x");
    REQUIRE(w.reaches([&] { return w.at_milan("two") == "x"; }, 2s));
    CHECK(w.reads == 2);
    CHECK(w.events("FailedReflection") == 0);
  }
}

TEST_CASE("a copy that names a former twin is corrected, before Kubernetes removes it for that") {
  Owned w;
  w.create("one", "x");
  REQUIRE(w.reaches([&] { return w.owners_of("one") == "twin"; }));
  // As from a backup.
  REQUIRE(w.milan.update(
      {kind, {twin, "one"}},
      [](json::object& tree) {
        tree["metadata"].as_object()["ownerReferences"].as_array()[0].as_object()["uid"] = "n-0";
      },
      actor));
  REQUIRE(w.owners_of("one") == "n-0");
  CHECK(w.reaches([&] { return w.owners_of("one") == "twin"; }, 30s));
  const std::size_t writes = w.writes();
  w.pass(5min);
  CHECK(w.writes() == writes);
}

TEST_CASE("a custom resource, which no admission looks at, gets its owner once it is seen to be there") {
  const core::reflection::ReflectedKind& widgets = core::reflection::custom_kind(
      {.plural = "widgets", .group = "example.org", .brings_status = true}, "v1", "Widget");
  Owned w(widgets);
  REQUIRE(w.rome.create(
      widgets.resource,
      {{"metadata", json::object{{"name", "one"}, {"namespace", "shop"}}}, {"spec", json::object{{"size", 1}}}},
      actor));
  bool was_born_with_owner = false;
  w.milan.store().on_change([&](const kube::testing::FakeChange& change) {
    if (!change.before && change.after && change.key.name == "one")
      was_born_with_owner = kube::find(*change.after, {"metadata", "ownerReferences"}) != nullptr;
  });
  CHECK(w.reaches([&] { return w.owners_of("one", widgets.resource) == "twin"; }));
  CHECK_FALSE(was_born_with_owner);
  CHECK(w.writes() == 2);
  w.pass(5min);
  CHECK(w.writes() == 2);
}

TEST_CASE("a custom resource that an operator there writes at once gets its owner all the same") {
  const core::reflection::ReflectedKind& widgets = core::reflection::custom_kind(
      {.plural = "widgets", .group = "example.org", .brings_status = true}, "v1", "Widget");
  Owned w(widgets);
  int writes = 0;
  w.milan_transport.rewrite = [&](kube::HttpRequest& request) {
    if (request.method != "PATCH" || !request.body.contains("ownerReferences") || ++writes > 1) return;
    REQUIRE(w.milan.update(
        {widgets.resource, {twin, "one"}},
        [](json::object& tree) { kube::testing::set_annotation(tree, "example.org/seen", "yes"); }, actor));
  };
  REQUIRE(w.rome.create(
      widgets.resource,
      {{"metadata", json::object{{"name", "one"}, {"namespace", "shop"}}}, {"spec", json::object{{"size", 1}}}},
      actor));
  CHECK(w.reaches([&] { return w.owners_of("one", widgets.resource) == "twin"; }, 10s));
  CHECK(writes == 2);
  w.pass(5min);
  CHECK(writes == 2);
}

}  // namespace liqo::controllers
