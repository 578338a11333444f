// All namespaces of one Reflector: changes of the rules, and of the leader.
#include "controllers/reflection/reflector.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("who leads next writes nothing that is right, and removes what is left over") {
  World w;
  for (int i = 0; i < 50; ++i) w.create("c" + std::to_string(i), "x");
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == 50; }));
  w.stop();
  w.set("c1", "y");
  REQUIRE(w.rome.remove(kind, {"shop", "c2"}, {}, actor));
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "c3"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "no"}}; }, actor));
  w.pass(1min);
  const std::size_t writes = w.writes();
  const std::uint64_t requests = w.to_milan.requests(), reads = w.to_rome.requests();
  w.start();
  REQUIRE(w.reaches([&] { return w.at_milan("c1") == "y" && w.at_milan("c2") == "(none)" && w.at_milan("c3") == "x"; },
                    5s));
  CHECK(w.writes() - writes == 3);
  w.pass(10s);
  // Each side is read by lists, not object by object.
  CHECK(w.to_milan.requests() - requests <= 6);
  CHECK(w.to_rome.requests() - reads <= 4);
}

TEST_CASE("a provider that fails is asked again, and a namespace that is given up is left as it is") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }));
  w.to_milan.refuse();
  w.set("words", "salve");
  w.pass(1min);
  CHECK(w.at_milan("words") == "ciao");
  w.to_milan.heal();
  CHECK(w.reaches([&] { return w.at_milan("words") == "salve"; }, 2min));
  w.reflector.stop_namespace("shop");
  w.set("words", "addio");
  w.pass(2min);
  CHECK(w.at_milan("words") == "salve");
  w.reflector.start_namespace("shop", "shop-rome");
  CHECK(w.reaches([&] { return w.at_milan("words") == "addio"; }));
}

TEST_CASE("what is left out of copies may change") {
  World w;
  json::object labelled = World::config_map("shop", "words", "ciao", {{"team", "a"}, {"tier", "b"}});
  REQUIRE(w.rome.create(kind, labelled, actor));
  const auto labels = [&] {
    const auto tree = w.milan.get(kind, {"shop-rome", "words"});
    return tree ? kube::object_at(*tree, {"metadata", "labels"}) : json::object();
  };
  REQUIRE(w.reaches([&] { return labels().contains("team"); }));
  core::ForgingContext forging = controllers::forging();
  forging.patch.labels_not_reflected = {"team"};
  w.reflector.set_forging(forging);
  CHECK(w.reaches([&] { return !labels().contains("team") && labels().contains("tier"); }, 5s));
}

TEST_CASE("which objects are reflected may change, also while they are being written") {
  World w;
  const auto annotated = [&](std::string_view name, std::string_view key) {
    json::object tree = World::config_map("shop", name, "x");
    tree["metadata"].as_object()["annotations"] = json::object{{key, "true"}};
    REQUIRE(w.rome.create(kind, tree, actor));
  };
  annotated("allowed", "liqo.io/allow-reflection");
  annotated("skipped", "liqo.io/skip-reflection");
  w.create("plain", "x");
  w.create("kube-root-ca.crt", "ca");
  const auto has = [&](const std::string& name) { return w.at_milan(name) != "(none)"; };
  const std::string root_ca = "kube-root-ca.crt.rome";
  REQUIRE(w.reaches([&] { return has("allowed") && has("plain") && has(root_ca); }, 5s));
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::allow_list, .workers = 1});
  CHECK(w.reaches([&] { return !has("plain"); }, 5s));
  w.create("later", "x");
  w.pass(1min);
  CHECK(has("allowed"));
  CHECK(has(root_ca));
  CHECK_FALSE(has("later"));
  CHECK_FALSE(has("skipped"));
  // One worker for all of a namespace does as well.
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::deny_list, .workers = 1});
  CHECK(w.reaches([&] { return has("plain") && has("later"); }, 5s));
  // Work that is under way when the policy changes follows the new one.
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const std::string name = "racing-" + std::to_string(round);
    w.create(name, "x");
    w.pass(std::chrono::milliseconds(round));
    w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::allow_list});
    CHECK(w.reaches([&] { return !w.reflector.is_busy() && !has(name); }, 10s));
    w.pass(100ms);
    CHECK_FALSE(has(name));
    w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::deny_list});
    CHECK(w.reaches([&] { return has(name); }, 5s));
  }
  w.pass(10s);
  const std::size_t writes = w.writes();
  w.pass(5min);
  CHECK(w.writes() == writes);
}

TEST_CASE("what copies are made by may change before home has been read, and after") {
  World w;
  w.to_rome.partition();
  REQUIRE(w.rome.create(kind, World::config_map("shop", "words", "ciao", {{"team", "a"}}), actor));
  const auto leave_out = [&](std::vector<std::string> labels) {
    core::ForgingContext changed = forging();
    changed.patch.labels_not_reflected = std::move(labels);
    w.reflector.set_forging(changed);
  };
  const auto team = [&] {
    const auto copy = w.milan.get(kind, {"shop-rome", "words"});
    return copy ? std::string(kube::string_at(*copy, {"metadata", "labels", "team"})) : "(none)";
  };
  leave_out({"team"});
  w.pass(10s);
  w.to_rome.heal();
  REQUIRE(w.reaches([&] { return team().empty(); }, 2min));
  leave_out({});
  CHECK(w.reaches([&] { return team() == "a"; }));
}

TEST_CASE("who leads no more forgets what objects referred to") {
  std::vector<std::string> referred;
  World w("Ingress");
  w.reflector.on_references([&](const std::string&, const std::string&, auto secrets) { referred = secrets; });
  REQUIRE(w.rome.create(core::reflection::find_reflected_kind("Ingress")->resource,
                        {{"metadata", json::object{{"name", "web"}, {"namespace", "shop"}}},
                         {"spec", json::object{{"tls", json::array{json::object{{"secretName", "certificate"}}}}}}},
                        actor));
  REQUIRE(w.reaches([&] { return referred == std::vector<std::string>{"certificate"}; }));
  w.stop();
  CHECK(referred.empty());
  w.start();
  CHECK(w.reaches([&] { return !referred.empty(); }));
}

}  // namespace liqo::controllers
