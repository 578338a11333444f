// How copies are written at the provider, also when an object of another owner has the name.
#include "controllers/reflection/copy_writer.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("what is added to each version of a copy has it written once more, and not for ever") {
  World w;
  w.milan_transport.rewrite = [](kube::HttpRequest& request) {
    if (request.method != "PATCH") return;
    json::value body = json::parse(request.body);
    kube::ensure_object(body.as_object(), "data")["injected"] = "1";
    request.body = json::serialize(body);
  };
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }));
  w.pass(10min);
  CHECK(w.writes() == 2);
}

TEST_CASE(
    "what controllers of home only note goes out where the provider takes it, and is left out where it does not") {
  const auto service = [](json::object annotations) -> json::object {
    return {
        {"metadata", json::object{{"name", "door"}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
        {"spec", json::object{{"ports", json::array{json::object{{"port", 80}}}}}}};
  };
  const auto& services = kube::resources::services;
  World w("Service");
  const auto at_milan = [&](std::string_view key) {
    const auto tree = w.milan.get(services, {"shop-rome", "door"});
    return !tree ? "(none)" : std::string(kube::string_at(*tree, {"metadata", "annotations", key}));
  };
  constexpr std::string_view note = "metallb.io/ip-allocated-from-pool", order = "metallb.io/address-pool";
  SUBCASE("it is taken") {
    REQUIRE(w.rome.create(services, service({{note, "a"}, {"team", "b"}}), actor));
    CHECK(w.reaches([&] { return at_milan(note) == "a"; }, 5s));
    CHECK(w.events("OffloadingLeftOut") == 0);
  }
  SUBCASE("it is refused") {
    w.milan_transport.refuses = [note](const kube::HttpRequest& asked) { return asked.body.contains(note); };
    REQUIRE(w.rome.create(services, service({{note, "a"}, {"team", "b"}}), actor));
    CHECK(w.reaches([&] { return at_milan("team") == "b"; }, 5s));
    CHECK(at_milan(note).empty());
    // That is remembered: the next change is not refused first.
    const std::size_t before = w.to_milan.requests();
    REQUIRE(w.rome.update(
        {services, {"shop", "door"}},
        [](json::object& tree) { kube::ensure_object(tree["metadata"].as_object(), "annotations")["team"] = "c"; },
        actor));
    CHECK(w.reaches([&] { return at_milan("team") == "c"; }, 5s));
    CHECK(w.to_milan.requests() <= before + 2);
    w.pass(2min);
    CHECK(w.events("OffloadingLeftOut") == 1);
    CHECK(w.events("FailedReflection") == 0);
  }
  SUBCASE("an order is refused with it, and may be what keeps a door shut") {
    w.milan_transport.refuses = [order](const kube::HttpRequest& asked) { return asked.body.contains(order); };
    REQUIRE(w.rome.create(services, service({{note, "a"}, {order, "internal"}}), actor));
    w.pass(1min);
    CHECK(at_milan("team") == "(none)");
    CHECK(w.events("FailedReflection") == 1);
    CHECK(w.events("OffloadingLeftOut") == 0);
  }
}

TEST_CASE("copies of Secrets, ConfigMaps and claims leave at home what would be an order at the provider") {
  const auto made = [](core::ForgingContext forging) {
    World w("ConfigMap", std::move(forging));
    REQUIRE(w.rome.create(kind, World::config_map("shop", "board", "x", {{"grafana_dashboard", "1"}, {"team", "a"}}),
                          actor));
    REQUIRE(w.reaches([&] { return w.at_milan("board") == "x"; }));
    return kube::object_at(*w.milan.get(kind, {"shop-rome", "board"}), {"metadata", "labels"});
  };
  CHECK_FALSE(made(forging()).contains("grafana_dashboard"));
  CHECK(made(forging()).contains("team"));
  core::ForgingContext keeping = forging();
  keeping.kept_keys = {"grafana_dashboard"};
  CHECK(made(keeping).contains("grafana_dashboard"));
}

TEST_CASE("an object of somebody else gets back what was applied to it, also where the answer was lost") {
  World w;
  w.create("first", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("first") == "x"; }));
  w.pass(18s);
  json::object theirs = World::config_map("shop-rome", "theirs", "");
  theirs["data"] = json::object{{"theirs", "x"}};
  REQUIRE(w.milan.create(kind, theirs, actor));
  bool was_lost = false;
  w.milan.store().on_change([&](const kube::testing::FakeChange& change) {
    if (was_lost || change.key.name != "theirs") return;
    was_lost = true;
    w.simulator.clock().call_in(0s, [&] { w.to_milan.refuse(); });
    w.simulator.clock().call_in(1s, [&] { w.to_milan.heal(); });
  });
  w.create("theirs", "ours");
  REQUIRE(w.reaches([&] { return was_lost; }));
  w.pass(1min);
  const auto tree = w.milan.get(kind, {"shop-rome", "theirs"});
  REQUIRE(tree);
  CHECK(tree->at("data") == theirs["data"]);
  CHECK(kube::object_at(*tree, {"metadata", "labels"}).empty());
  CHECK(w.events("FailedReflection") == 1);
  REQUIRE(w.milan.remove(kind, {"shop-rome", "theirs"}, {}, actor));
  CHECK(w.reaches([&] { return w.at_milan("theirs") == "ours"; }, 30s));
}

TEST_CASE("what cannot be given back is not applied where somebody else has the name") {
  const kube::Resource& secrets = kube::resources::secrets;
  const auto secret = [](std::string_view ns, std::string_view type, std::string_view key) {
    return json::object{{"metadata", json::object{{"name", "taken"},
                                                  {"namespace", ns},
                                                  {"annotations", json::object{{"liqo.io/allow-reflection", "true"}}}}},
                        {"type", type},
                        {"data", json::object{{key, "eA=="}}}};
  };
  // An immutable copy stays so, and a Secret keeps the type with which it was made.
  for (const bool immutable : {true, false}) {
    CAPTURE(immutable);
    World w("Secret");
    w.pass(10s);
    REQUIRE(w.milan.create(secrets, secret("shop-rome", "Opaque", "theirs"), actor));
    json::object ours = secret("shop", immutable ? "Opaque" : "example.com/key", "ours");
    if (immutable) ours["immutable"] = true;
    REQUIRE(w.rome.create(secrets, ours, actor));
    w.pass(3min);
    const auto tree = w.milan.get(secrets, {"shop-rome", "taken"});
    CHECK(tree->at("data") == json::object{{"theirs", "eA=="}});
    CHECK_FALSE(tree->contains("immutable"));
    CHECK(w.events("FailedReflection") >= 1);
    const std::size_t writes = w.writes();
    w.pass(10min);
    CHECK(w.writes() == writes);
  }
}

}  // namespace liqo::controllers
