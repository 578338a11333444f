// One object and its copy: what is written, left alone, removed and reported.
#include "controllers/reflection/reflected_object.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "endpoints_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("a copy follows its object, by one write for each change") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }, 5s));
  w.set("words", "salve");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "salve"; }, 5s));
  CHECK(w.writes() == 2);
  // An object that is not reflected costs nothing there.
  REQUIRE(w.rome.update(
      {kind, {"shop", "words"}},
      [](json::object& tree) {
        kube::testing::set_annotation(tree, "kubectl.kubernetes.io/last-applied-configuration", "x");
      },
      actor));
  w.pass(2min);
  CHECK(w.writes() == 2);
  REQUIRE(w.rome.remove(kind, {"shop", "words"}, {}, actor));
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "(none)"; }, 5s));
  w.create("elsewhere", "no", "bank");
  w.pass(1min);
  CHECK(w.writes() == 3);
  CHECK(w.events("FailedReflection") == 0);
}

TEST_CASE("a copy that somebody changes or deletes is right again within 30 s") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }));
  for (int round = 0; round < 5; ++round) {
    CAPTURE(round);
    REQUIRE(w.milan.update(
        {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "no"}}; }, actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "ciao"; }, 30s));
    REQUIRE(w.milan.remove(kind, {"shop-rome", "words"}, {}, actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "ciao"; }, 30s));
  }
  // Additions of others to the data are removed.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}}, [](json::object& tree) { kube::ensure_object(tree, "data")["theirs"] = "1"; },
      actor));
  const auto has_more = [&] {
    const auto copy = w.milan.get(kind, {"shop-rome", "words"});
    return copy && kube::object_at(*copy, {"data"}).size() != 1;
  };
  REQUIRE(has_more());
  CHECK(w.reaches([&] { return !has_more(); }, 30s));
  // So it does if something of ours was changed at the same time.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}},
      [](json::object& tree) { tree["data"] = json::object{{"key", "no"}, {"theirs", "1"}}; }, actor));
  CHECK(w.reaches([&] { return !has_more() && w.at_milan("words") == "ciao"; }, 30s));
  // Another label stays, and is looked at once.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}}, [](json::object& tree) { kube::testing::set_label(tree, "theirs", "1"); },
      actor));
  const std::size_t writes = w.writes();
  w.pass(2min);
  CHECK(w.writes() == writes);
}

TEST_CASE("an object of somebody else is told of, left alone, and replaced when it goes") {
  World w;
  w.create("first", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("first") == "x"; }));
  // It existed before, or appears while its name is not known to be taken.
  for (const char* name : {"early", "late"}) {
    CAPTURE(name);
    if (std::string_view(name) == "late") w.pass(18s);
    json::object theirs = World::config_map("shop-rome", name, "");
    theirs["data"] = json::object{{"theirs", "x"}};
    REQUIRE(w.milan.create(kind, theirs, actor));
    if (std::string_view(name) == "early") w.pass(30s);
    w.create(name, "ours");
    w.pass(1min);
    const auto tree = w.milan.get(kind, {"shop-rome", name});
    REQUIRE(tree);
    CHECK(tree->at("data") == theirs["data"]);
    CHECK(kube::object_at(*tree, {"metadata", "labels"}).empty());
    CHECK(kube::object_at(*tree, {"metadata", "annotations"}).empty());
  }
  CHECK(w.events("FailedReflection") == 2);
  const std::size_t writes = w.writes();
  w.pass(5min);
  CHECK(w.writes() == writes);
  REQUIRE(w.milan.remove(kind, {"shop-rome", "early"}, {}, actor));
  CHECK(w.reaches([&] { return w.at_milan("early") == "ours"; }, 30s));
}

TEST_CASE("an immutable object that changes is replaced") {
  World w;
  json::object fixed = World::config_map("shop", "fixed", "one");
  fixed["immutable"] = true;
  REQUIRE(w.rome.create(kind, fixed, actor));
  REQUIRE(w.reaches([&] { return w.at_milan("fixed") == "one"; }));
  REQUIRE(w.rome.remove(kind, {"shop", "fixed"}, {}, actor));
  fixed["data"] = json::object{{"key", "two"}};
  REQUIRE(w.rome.create(kind, fixed, actor));
  CHECK(w.reaches([&] { return w.at_milan("fixed") == "two"; }, 5s));
}

TEST_CASE("that an address is left out is told once, however the others come and go") {
  Endpoints e;
  e.home.unreachable = {"192.0.2.9"};
  e.create("web", "192.0.2.9");
  for (int i = 0; i < 20; ++i) {
    REQUIRE(e.world.rome.update(
        {api::kinds::endpoint_slices, {"shop", "web"}},
        [&](json::object& tree) {
          tree["endpoints"].as_array().push_back(
              json::object{{"addresses", json::array{json::string("10.200.3." + std::to_string(i))}}});
        },
        actor));
    e.world.pass(2s);
  }
  CHECK(kube::array_at(*e.world.milan.get(api::kinds::shadow_endpoint_slices, {"shop-rome", "web"}),
                       {"spec", "template", "endpoints"})
            .size() == 20);
  CHECK(e.world.events("AddressLeftOut") == 1);
}

TEST_CASE("that a Secret is never reflected is told once, whatever refers to it and when") {
  World w("Secret");
  const auto create = [&] {
    REQUIRE(w.rome.create(kube::resources::secrets,
                          {{"metadata", json::object{{"name", "joins"}, {"namespace", "shop"}}},
                           {"type", "bootstrap.kubernetes.io/token"}},
                          actor));
  };
  const auto told = [&] {
    std::int64_t count = 0;
    for (const auto& event : w.rome.list(kube::resources::events))
      if (kube::string_at(*event, {"reason"}) == "ReflectionDisabled") count += kube::int_at(*event, {"count"}, 1);
    return count;
  };
  create();
  w.reflector.set_references("shop", {"joins"});
  REQUIRE(w.reaches([&] { return told() == 1; }));
  // One pod goes and another one comes, and then none for long.
  w.pass(6min);
  w.reflector.set_references("shop", {});
  w.pass(1min);
  w.reflector.set_references("shop", {"joins"});
  w.pass(6min);
  w.reflector.set_references("shop", {});
  w.pass(20min);
  CHECK(told() == 1);
  // Another one of the name is reported.
  REQUIRE(w.rome.remove(kube::resources::secrets, {"shop", "joins"}, {}, actor));
  create();
  w.reflector.set_references("shop", {"joins"});
  CHECK(w.reaches([&] { return told() == 2; }));
}

TEST_CASE("a copy that could not be removed at first is replaced later") {
  World w;
  const auto create = [&](std::string_view value) {
    json::object fixed = World::config_map("shop", "fixed", value);
    fixed["immutable"] = true;
    REQUIRE(w.rome.create(kind, fixed, actor));
  };
  create("old");
  REQUIRE(w.reaches([&] { return w.at_milan("fixed") == "old"; }));
  w.to_milan.on_send([&](const kube::HttpRequest& request) {
    if (request.method == "DELETE") w.to_milan.set_faults({.unavailable = 1});
  });
  REQUIRE(w.rome.remove(kind, {"shop", "fixed"}, {}, actor));
  create("new");
  w.pass(1s);
  CHECK(w.at_milan("fixed") == "old");
  w.to_milan.on_send(nullptr);
  w.to_milan.set_faults({});
  CHECK(w.reaches([&] { return w.at_milan("fixed") == "new"; }, 60s));
}

TEST_CASE("a Secret that is allowed no more when it is read is not sent") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  REQUIRE(
      w.rome.create(secrets,
                    {{"metadata", json::object{{"name", "mine"},
                                               {"namespace", "shop"},
                                               {"annotations", json::object{{"liqo.io/allow-reflection", "true"}}}}},
                     {"data", json::object{{"key", "eA=="}}}},
                    actor));
  bool was_listed = false;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    if (!request.target.starts_with("/api/v1/namespaces/shop/secrets/mine") || std::exchange(was_listed, true)) return;
    w.simulator.clock().call_in(0s, [&] {
      (void)w.rome.update(
          {secrets, {"shop", "mine"}},
          [](json::object& tree) {
            tree["metadata"].as_object().erase("annotations");
            tree["data"] = json::object{{"key", "eQ=="}};
          },
          actor);
    });
  });
  REQUIRE(w.reaches([&] { return was_listed; }, 90s));
  w.pass(3min);
  CHECK(w.writes() == 0);
}

TEST_CASE("why a Secret has no copy is told once for each of its versions") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  REQUIRE(
      w.rome.create(secrets,
                    {{"metadata", json::object{{"name", "token"},
                                               {"namespace", "shop"},
                                               {"annotations", json::object{{"liqo.io/allow-reflection", "true"}}}}},
                     {"type", "bootstrap.kubernetes.io/token"}},
                    actor));
  const auto told = [&] {
    std::int64_t count = 0;
    for (const auto& tree : w.rome.list(kube::resources::events)) count += kube::int_at(*tree, {"count"});
    return count;
  };
  w.reflector.set_references("shop", {"token"});
  REQUIRE(w.reaches([&] { return told() == 1; }));
  for (int round = 0; round < 3; ++round) {
    w.reflector.set_references("shop", {});
    w.pass(6min);
    w.reflector.set_references("shop", {"token"});
    w.reflector.reconsider();
    w.pass(1min);
  }
  CHECK(told() == 1);
}

TEST_CASE("where the first object meets one of somebody else, the next ones are looked at all the same") {
  World w;
  w.pass(1min);
  REQUIRE(w.milan.create(kind, World::config_map("shop-rome", "taken", "theirs"), actor));
  w.create("taken", "ours");
  w.pass(30s);
  w.create("free", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("free") == "x"; }));
  REQUIRE(w.milan.remove(kind, {"shop-rome", "free"}, {}, actor));
  CHECK(w.reaches([&] { return w.at_milan("free") == "x"; }, 30s));
  REQUIRE(w.milan.remove(kind, {"shop-rome", "taken"}, {}, actor));
  CHECK(w.reaches([&] { return w.at_milan("taken") == "ours"; }, 30s));
}

}  // namespace liqo::controllers
