// Secrets, which are reflected if something refers to them.
#include "controllers/reflection/referred_objects.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kube/testing/tree.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

NamespaceContext context_of(World& w) {
  return {
      {{w.simulator.executor(), w.simulator.clock(), w.random, w.metrics}, w.home, w.milan_api, w.stores, w.recorder},
      *core::reflection::find_reflected_kind("Secret"),
      core::reflection::SelectionPolicy::deny_list,
      forging()};
}

}  // namespace

TEST_CASE("an object to which nothing refers any more counts for five minutes, and again if something comes back") {
  World w("Secret");
  const NamespaceContext context = context_of(w);
  ReferredObjects referred(context);
  CHECK(referred.add("used"));
  CHECK_FALSE(referred.add("used"));
  CHECK(referred.leave({"used"}).empty());
  CHECK_FALSE(referred.grace_left("used"));
  CHECK(referred.leave({}) == std::vector<std::string>{"used"});
  CHECK(referred.leave({}).empty());
  w.pass(4min);
  CHECK(referred.contains("used"));
  CHECK(referred.grace_left("used"));
  CHECK(referred.add("used"));
  w.pass(4min);
  CHECK(referred.contains("used"));
  CHECK_FALSE(referred.grace_left("used"));
  CHECK(referred.leave({}) == std::vector<std::string>{"used"});
  w.pass(6min);
  CHECK_FALSE(referred.contains("used"));
  CHECK_FALSE(referred.grace_left("used"));
  CHECK_FALSE(referred.empty());
  referred.erase("used");
  CHECK(referred.empty());
}

TEST_CASE("a copy that is kept stays for five minutes, or until all references are known, and has nothing wanted") {
  World w("Secret");
  NamespaceContext context = context_of(w);
  ReferredObjects referred(context);
  referred.keep("found");
  CHECK_FALSE(referred.contains("found"));
  CHECK(referred.empty());
  w.pass(4min);
  CHECK(referred.stays_for("found"));
  CHECK_FALSE(referred.stays_for("other"));
  w.pass(2min);
  CHECK_FALSE(referred.stays_for("found"));
  bool is_known = false;
  context.references_known = [&] { return is_known; };
  CHECK(referred.stays_for("other"));
  is_known = true;
  CHECK_FALSE(referred.stays_for("other"));
}

TEST_CASE("all objects are wanted by the policy, or by a namespace that is not under an AllowList") {
  World w("Secret");
  NamespaceContext context = context_of(w);
  ReferredObjects referred(context);
  using core::reflection::SelectionPolicy;
  CHECK_FALSE(referred.takes_all());
  CHECK(referred.want_all(true));
  CHECK_FALSE(referred.want_all(true));
  CHECK(referred.takes_all());
  context.policy = SelectionPolicy::allow_list;
  CHECK_FALSE(referred.takes_all());
  CHECK(referred.want_all(false));
  context.policy = SelectionPolicy::all;
  CHECK(referred.takes_all());
}

TEST_CASE("a Secret that comes after the first pod that refers to it is there within 30 s") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  // The namespace has just been looked at, and nothing referred to a Secret.
  w.pass(5s);
  w.reflector.set_references("shop", {"late"});
  w.pass(1s);
  REQUIRE(w.rome.create(
      secrets, {{"metadata", json::object{{"name", "late"}, {"namespace", "shop"}}}, {"type", "Opaque"}}, actor));
  CHECK(w.reaches([&] { return w.milan.get(secrets, {"shop-rome", "late"}) != nullptr; }, 30s));
}

TEST_CASE("under an AllowList nothing refers to Secrets for the provider") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations = {}) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
         {"type", "Opaque"}},
        actor));
  };
  const auto has = [&](const std::string& name) { return w.milan.get(secrets, {"shop-rome", name}) != nullptr; };
  create("used");
  create("allowed", {{"liqo.io/allow-reflection", "true"}});
  w.reflector.set_references("shop", {"used", "allowed"});
  REQUIRE(w.reaches([&] { return has("used") && has("allowed"); }, 5s));
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::allow_list});
  CHECK(w.reaches([&] { return !has("used"); }, 5s));
  w.pass(10min);
  CHECK(has("allowed"));
  CHECK_FALSE(has("used"));
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::deny_list});
  CHECK(w.reaches([&] { return has("used"); }, 5s));
}

TEST_CASE("all Secrets of a namespace go where the policy says so, or its pods stay at home") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, const char* annotation = nullptr, const char* type = "Opaque") {
    json::object metadata{{"name", name}, {"namespace", "shop"}};
    if (annotation) metadata["annotations"] = json::object{{annotation, "true"}};
    REQUIRE(w.rome.create(secrets, {{"metadata", std::move(metadata)}, {"type", type}}, actor));
  };
  const auto has = [&](const std::string& name) { return w.milan.get(secrets, {"shop-rome", name}) != nullptr; };
  create("plain");
  create("allowed", "liqo.io/allow-reflection");
  create("skipped", "liqo.io/skip-reflection");
  create("token", nullptr, "kubernetes.io/service-account-token");
  using core::reflection::SelectionPolicy;
  const auto say = [&](SelectionPolicy policy) { w.reflector.set_policy({.selection = policy}); };
  const auto stay = [&](bool stays) { w.reflector.set_references("shop", {}, stays); };
  REQUIRE(w.reaches([&] { return has("allowed"); }, 5s));
  CHECK_FALSE(has("plain"));

  for (const bool by_policy : {true, false}) {
    CAPTURE(by_policy);
    by_policy ? say(SelectionPolicy::all) : stay(true);
    CHECK(w.reaches([&] { return has("plain"); }, 10s));
    // Objects that are created later follow with the next list.
    create("later");
    CHECK(w.reaches([&] { return has("later"); }, 30s));
    REQUIRE(w.milan.remove(secrets, {"shop-rome", "later"}, {}, actor));
    CHECK(w.reaches([&] { return has("later"); }, 30s));
    REQUIRE(w.rome.remove(secrets, {"shop", "later"}, {}, actor));
    CHECK(w.reaches([&] { return !has("later"); }, 30s));
    CHECK_FALSE(has("skipped"));
    CHECK_FALSE(has("token"));
    by_policy ? say(SelectionPolicy::deny_list) : stay(false);
    CHECK(w.reaches([&] { return !has("plain"); }, 6min));
    CHECK(has("allowed"));
  }
  // An AllowList is not widened by where pods are.
  say(SelectionPolicy::allow_list);
  stay(true);
  w.pass(2min);
  CHECK_FALSE(has("plain"));
  say(SelectionPolicy::all);
  CHECK(w.reaches([&] { return has("plain"); }, 10s));
  const std::size_t writes = w.writes();
  w.pass(10min);
  CHECK(w.writes() == writes);
}

TEST_CASE("where no longer all Secrets are wanted, copies stay for as long as those that nothing refers to any more") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  using core::reflection::SelectionPolicy;
  REQUIRE(w.rome.create(secrets, {{"metadata", json::object{{"name", "plain"}, {"namespace", "shop"}}}}, actor));
  const auto has = [&] { return w.milan.get(secrets, {"shop-rome", "plain"}) != nullptr; };
  for (const bool by_policy : {true, false}) {
    CAPTURE(by_policy);
    const auto want_all = [&](bool all) {
      by_policy ? w.reflector.set_policy({.selection = all ? SelectionPolicy::all : SelectionPolicy::deny_list})
                : w.reflector.set_references("shop", {}, all);
    };
    want_all(true);
    REQUIRE(w.reaches(has, 30s));
    // Copies that an earlier process may have left do not count any more.
    w.pass(6min);
    want_all(false);
    w.pass(2min);
    CHECK(has());
    CHECK(w.reaches([&] { return !has(); }, 5min));
  }
}

TEST_CASE("Secrets go where something refers to them, and are not read otherwise") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations = {}) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
         {"type", "Opaque"},
         {"data", json::object{{"key", "eA=="}}}},
        actor));
  };
  const auto has = [&](const std::string& name) { return w.milan.get(secrets, {"shop-rome", name}) != nullptr; };
  create("used");
  create("unused");
  create("allowed", {{"liqo.io/allow-reflection", "true"}});
  create("skipped", {{"liqo.io/skip-reflection", "true"}});
  // A copy of the Go version to which nothing refers, and one whose object was removed while no liqod ran.
  create("of-go");
  for (const char* name : {"of-go", "gone"})
    REQUIRE(w.milan.create(
        secrets,
        {{"metadata", json::object{{"name", name},
                                   {"namespace", "shop-rome"},
                                   {"labels", json::object{{"offloading.liqo.io/origin", "rome"},
                                                           {"offloading.liqo.io/destination", "milan"}}}}},
         {"type", "Opaque"}},
        actor));
  REQUIRE(w.milan.update(
      {secrets, {"shop-rome", "gone"}},
      [](json::object& tree) { kube::testing::set_annotation(tree, "offloading.liqo.io/reflected-digest", "x"); },
      actor));
  w.reflector.set_references("shop", {"used", "skipped", "later"});
  REQUIRE(w.reaches([&] { return has("used") && has("allowed"); }, 5s));
  // The referenced object may be created later, and change.
  create("later");
  CHECK(w.reaches([&] { return has("later"); }, 30s));
  REQUIRE(w.rome.update(
      {secrets, {"shop", "used"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "eQ=="}}; }, actor));
  CHECK(w.reaches(
      [&] { return kube::string_at(*w.milan.get(secrets, {"shop-rome", "used"}), {"data", "key"}) == "eQ=="; }, 30s));
  CHECK_FALSE(has("unused"));
  CHECK_FALSE(has("skipped"));
  // A provider that makes a false copy gets nothing for it.
  for (const bool marked : {true, false}) {
    json::object forged{{"metadata", json::object{{"name", "unused"}, {"namespace", "shop-rome"}}}, {"type", "Opaque"}};
    if (marked) {
      json::object& metadata = forged["metadata"].as_object();
      metadata["labels"] =
          json::object{{"offloading.liqo.io/origin", "rome"}, {"offloading.liqo.io/destination", "milan"}};
      metadata["annotations"] = json::object{{"offloading.liqo.io/reflected-digest", "x"}};
    }
    w.stop();
    REQUIRE(w.milan.create(secrets, forged, actor));
    const std::size_t written = w.writes();
    w.start();
    w.pass(1min);
    CHECK(w.writes() == written);
    CHECK_FALSE(w.milan.get(secrets, {"shop-rome", "unused"})->contains("data"));
    REQUIRE(w.milan.remove(secrets, {"shop-rome", "unused"}, {}, actor));
    w.pass(1min);
  }
  // Pods come and go: a copy stays for a while after the last one.
  w.reflector.set_references("shop", {"later"});
  w.pass(1min);
  w.reflector.set_references("shop", {"later", "used"});
  w.pass(1min);
  w.reflector.set_references("shop", {"later"});
  w.pass(4min);
  CHECK(has("used"));
  CHECK(w.reaches([&] { return !has("used"); }, 2min));
  CHECK(has("later"));
  CHECK(has("allowed"));
  CHECK(has("of-go"));
  CHECK_FALSE(has("gone"));
  REQUIRE(w.rome.remove(secrets, {"shop", "later"}, {}, actor));
  CHECK(w.reaches([&] { return !has("later"); }, 30s));
  const std::size_t writes = w.writes();
  const std::uint64_t asked = w.to_milan.requests() + w.to_rome.requests();
  w.pass(10min);
  CHECK(w.writes() == writes);
  CHECK(w.to_milan.requests() + w.to_rome.requests() - asked <= 90);
}

TEST_CASE("a token that was made by hand is there while a pod names it, and told once") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto has = [&] { return w.milan.get(secrets, {"shop-rome", "token"}) != nullptr; };
  json::object metadata{
      {"name", "token"}, {"namespace", "shop"}, {"annotations", json::object{{"liqo.io/allow-reflection", "true"}}}};
  REQUIRE(w.rome.create(secrets,
                        {{"metadata", std::move(metadata)},
                         {"type", "kubernetes.io/service-account-token"},
                         {"data", json::object{{"token", "SldU"}}}},
                        actor));
  // Neither a list of all, nor an Ingress, nor an account's image pull secrets have it copied.
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::all});
  w.reflector.set_references("shop", {"token"}, true);
  w.pass(90s);
  CHECK_FALSE(has());
  for (int round = 0; round < 2; ++round) {
    w.reflector.set_references("shop", {"token"}, true, {"token"});
    REQUIRE(w.reaches(has, 5s));
    CHECK(kube::string_at(*w.milan.get(secrets, {"shop-rome", "token"}), {"type"}) == "Opaque");
    w.reflector.set_references("shop", {"token"}, true);
    CHECK(w.reaches([&] { return !has(); }, 5s));
  }
  w.reflector.set_references("shop", {"token"}, false, {"token"});
  REQUIRE(w.reaches(has, 5s));
  w.reflector.set_references("shop", {});
  CHECK(w.reaches([&] { return !has(); }, 5s));
  std::int64_t told = 0;
  for (const auto& tree : w.rome.list(kube::resources::events))
    if (kube::string_at(*tree, {"reason"}) == "TokenReflected") told += kube::int_at(*tree, {"count"});
  CHECK(told == 1);
}

}  // namespace liqo::controllers
