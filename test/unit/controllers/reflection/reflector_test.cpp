// One kind reflected from rome to milan, over API servers in memory and in virtual time.
#include "controllers/reflection/reflector.hpp"

#include "core/reflection/home_endpoints.hpp"
#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::reflector {

TEST_CASE("a copy follows its object, by one write for each change") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }, 5s));
  w.set("words", "salve");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "salve"; }, 5s));
  CHECK(w.writes() == 2);
  // What is not reflected costs nothing there.
  REQUIRE(w.rome.update(
      {kind, {"shop", "words"}},
      [](json::object& tree) {
        kube::ensure_object(kube::ensure_object(tree, "metadata"),
                            "annotations")["kubectl.kubernetes.io/last-applied-configuration"] = "x";
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
  // What somebody adds to the data goes.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}}, [](json::object& tree) { kube::ensure_object(tree, "data")["theirs"] = "1"; },
      actor));
  const auto has_more = [&] {
    const auto copy = w.milan.get(kind, {"shop-rome", "words"});
    return copy && kube::object_at(*copy, {"data"}).size() != 1;
  };
  REQUIRE(has_more());
  CHECK(w.reaches([&] { return !has_more(); }, 30s));
  // So it does where something of ours was changed at the same time.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}},
      [](json::object& tree) { tree["data"] = json::object{{"key", "no"}, {"theirs", "1"}}; }, actor));
  CHECK(w.reaches([&] { return !has_more() && w.at_milan("words") == "ciao"; }, 30s));
  // Another label stays, and is looked at once.
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}},
      [](json::object& tree) { kube::ensure_object(kube::ensure_object(tree, "metadata"), "labels")["theirs"] = "1"; },
      actor));
  const std::size_t writes = w.writes();
  w.pass(2min);
  CHECK(w.writes() == writes);
}

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

TEST_CASE("nothing is watched at the provider, and at rest little is asked") {
  World w;
  for (int i = 0; i < 20; ++i) w.create("c" + std::to_string(i), "x");
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == 20; }));
  w.pass(1min);
  const std::uint64_t before = w.to_milan.requests();
  w.pass(10min);
  CHECK(w.to_milan.requests() - before <= 36);
  CHECK_FALSE(w.metrics.text().contains("verb=\"watch\",resource=\"configmaps\",cluster=\"milan\""));
  for (const auto& [name, from, to] : {std::tuple{"empty", "bank", "bank-rome"}}) w.reflector.start_namespace(from, to);
  w.pass(1min);
  const std::uint64_t with_two = w.to_milan.requests();
  w.pass(10min);
  // A twin without copies is not looked at.
  CHECK(w.to_milan.requests() - with_two <= 36);
}

TEST_CASE("an object of somebody else is told of, left alone, and replaced when it goes") {
  World w;
  w.create("first", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("first") == "x"; }));
  // It was there before, or appears while its name is not known to be taken.
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

TEST_CASE("a provider whose database is restored gets its copies back") {
  World w;
  w.create("old", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("old") == "x"; }));
  const std::uint64_t backup = w.milan.store().version();
  w.create("new", "y");
  w.set("old", "z");
  REQUIRE(w.reaches([&] { return w.at_milan("new") == "y" && w.at_milan("old") == "z"; }));
  for (const int others : {0, 40}) {
    CAPTURE(others);
    w.milan.store().rewind(backup);
    for (int i = 0; i < others; ++i)
      REQUIRE(w.milan.create(kind, World::config_map("kube-system", "o" + std::to_string(i), "x"), actor));
    CHECK(w.reaches([&] { return w.at_milan("new") == "y" && w.at_milan("old") == "z"; }, 30s));
  }
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
    // It is remembered: a change is not refused first.
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

TEST_CASE("a namespace that its provider does not show costs nothing at home") {
  World w("Secret");
  w.to_milan.refuse();
  w.reflector.set_references("shop", {"words"});
  w.pass(30s);
  const std::uint64_t before = w.to_rome.requests();
  w.pass(10min);
  CHECK(w.to_rome.requests() == before);
}

TEST_CASE("what an earlier process has sent, and is carried out late, is found though there is no other copy") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }));
  w.stop();
  json::object late = *w.milan.get(kind, {"shop-rome", "words"});
  REQUIRE(w.milan.remove(kind, {"shop-rome", "words"}, {}, actor));
  REQUIRE(w.rome.remove(kind, {"shop", "words"}, {}, actor));
  w.start();
  w.pass(30s);
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp"}) late["metadata"].as_object().erase(field);
  REQUIRE(w.milan.create(kind, late, actor));
  CHECK(w.reaches([&] { return w.at_milan("words") == "(none)"; }, 1min));
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
  core::ForgingContext forging = reflector::forging();
  forging.patch.labels_not_reflected = {"team"};
  w.reflector.set_forging(forging);
  CHECK(w.reaches([&] { return !labels().contains("team") && labels().contains("tier"); }, 5s));
}

namespace {

struct TestHome final : core::HomeEndpoints {
  bool known = true;
  std::set<std::string> unreachable;

  std::string cluster_of(std::string_view) const override { return ""; }
  std::optional<core::IpAddress> outward(std::string_view, const core::IpAddress& address) const override {
    return unreachable.contains(address.text()) ? std::nullopt : std::optional(address);
  }
  std::optional<kube::Object> service(std::string_view, std::string_view) const override { return std::nullopt; }
  bool is_known() const override { return known; }
};

/// EndpointSlices of rome, whose copies are ShadowEndpointSlices.
struct Endpoints {
  Endpoints() : world("EndpointSlice", forging_with(home)) {
    world.rome.serve(api::kinds::endpoint_slices);
    world.milan.serve(api::kinds::shadow_endpoint_slices);
  }
  static core::ForgingContext forging_with(const TestHome& home) {
    core::ForgingContext out = forging();
    out.endpoints = &home;
    return out;
  }
  void create(std::string_view name, std::string_view address) {
    REQUIRE(world.rome.create(api::kinds::endpoint_slices,
                              {{"metadata", json::object{{"name", name}, {"namespace", "shop"}}},
                               {"addressType", "IPv4"},
                               {"endpoints", json::array{json::object{{"addresses", json::array{address}}}}}},
                              actor));
  }
  void set_hostname(std::string_view hostname) {
    REQUIRE(world.rome.update(
        {api::kinds::endpoint_slices, {"shop", "web"}},
        [&](json::object& tree) { tree["endpoints"].as_array()[0].as_object()["hostname"] = hostname; }, actor));
  }
  const json::value* endpoint() {
    copy = world.milan.get(api::kinds::shadow_endpoint_slices, {"shop-rome", "web"});
    const json::array& all = copy ? kube::array_at(*copy, {"spec", "template", "endpoints"}) : nothing;
    return all.empty() ? nullptr : &all.front();
  }

  TestHome home;
  World world;
  kube::testing::Tree copy;
  const json::array nothing;
};

}  // namespace

TEST_CASE("endpoints that change on and on are followed after a moment, then once a second, to where they end") {
  Endpoints e;
  e.create("web", "10.200.3.4");
  REQUIRE(e.world.reaches([&] { return e.endpoint() != nullptr; }));
  e.world.pass(5s);
  const auto is = [&](std::string_view hostname) { return kube::string_at(*e.endpoint(), {"hostname"}) == hostname; };
  CHECK(e.world.writes() == 1);
  const kube::TimePoint begun = e.world.simulator.clock().now();
  e.set_hostname("first");
  REQUIRE(e.world.reaches([&] { return is("first"); }));
  const kube::Duration first = e.world.simulator.clock().now() - begun;
  CHECK(first >= 250ms);
  CHECK(first < 500ms);
  // Changes come while a write is on its way, too.
  e.world.to_milan.set_faults({.latency_low = 100ms, .latency_high = 100ms});
  for (int i = 0; i < 60; ++i) {
    e.set_hostname(std::to_string(i));
    e.world.pass(100ms);
  }
  CHECK(e.world.reaches([&] { return is("59"); }, 1500ms));
  CHECK(e.world.writes() >= 6);
  kube::TimePoint before{};
  for (const auto& write : e.world.milan.writes()) {
    CHECK(write.at - before >= 1s);
    before = write.at;
  }
  const std::size_t writes = e.world.writes();
  e.world.pass(2min);
  CHECK(e.world.writes() == writes);
}

TEST_CASE("a namespace in which much is considered anew holds up no other, and itself not for long") {
  Endpoints e;
  e.world.reflector.start_namespace("bank", "bank-rome");
  e.create("web", "10.200.3.4");
  REQUIRE(e.world.reaches([&] { return e.endpoint() != nullptr; }));
  e.world.pass(5s);
  e.world.to_milan.set_faults({.latency_low = 50ms, .latency_high = 50ms});
  const std::uint64_t requests = e.world.to_rome.requests();
  e.set_hostname("now");
  for (int i = 0; i < 60; ++i) {
    e.world.reflector.reconsider("bank");
    e.world.reflector.reconsider("shop");
    e.world.pass(50ms);
  }
  CHECK(kube::string_at(*e.endpoint(), {"hostname"}) == "now");
  e.world.pass(10s);
  CHECK(e.world.writes() == 2);
  CHECK(e.world.to_rome.requests() - requests < 12);
}

TEST_CASE("what is asked for while nobody runs this, or not all is known, is not lost") {
  World w;
  w.stop();
  w.reflector.reconsider();
  w.start();
  REQUIRE(w.rome.create(kind, World::config_map("shop", "words", "ciao", {{"team", "a"}, {"tier", "b"}}), actor));
  const auto labels = [&] {
    const auto tree = w.milan.get(kind, {"shop-rome", "words"});
    return tree ? kube::object_at(*tree, {"metadata", "labels"}) : json::object();
  };
  REQUIRE(w.reaches([&] { return labels().contains("team"); }));
  core::ForgingContext forging = reflector::forging();
  forging.patch.labels_not_reflected = {"team"};
  w.reflector.set_forging(forging);
  CHECK(w.reaches([&] { return !labels().contains("team") && labels().contains("tier"); }, 10s));

  Endpoints e;
  e.home.unreachable = {"192.0.2.9"};
  e.create("web", "192.0.2.9");
  REQUIRE(e.world.reaches([&] { return e.world.writes() == 1; }));
  e.home.known = false;
  e.home.unreachable.clear();
  e.world.reflector.reconsider("shop");
  e.world.pass(20s);
  e.home.known = true;
  CHECK(e.world.reaches([&] { return e.endpoint() != nullptr; }, 10s));
}

TEST_CASE("what changes while not all is known that decides about it is followed afterwards") {
  Endpoints e;
  e.create("web", "10.200.3.4");
  REQUIRE(e.world.reaches([&] { return e.endpoint() != nullptr; }));
  e.world.pass(5s);
  e.home.known = false;
  e.set_hostname("late");
  e.world.pass(1min);
  CHECK(kube::string_at(*e.endpoint(), {"hostname"}).empty());
  e.home.known = true;
  CHECK(e.world.reaches([&] { return kube::string_at(*e.endpoint(), {"hostname"}) == "late"; }, 3s));
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

TEST_CASE("endpoints are copied once all is known that decides about them, and follow it when it changes") {
  Endpoints e;
  e.home.known = false;
  e.home.unreachable = {"192.0.2.9"};
  e.create("web", "192.0.2.9");
  e.world.pass(1min);
  CHECK(e.world.writes() == 0);
  e.home.known = true;
  REQUIRE(e.world.reaches([&] { return e.world.writes() == 1; }, 5s));
  CHECK(e.endpoint() == nullptr);
  CHECK(e.world.reaches([&] { return e.world.events("AddressLeftOut") == 1; }));
  e.home.unreachable.clear();
  e.world.reflector.reconsider("bank");
  e.world.pass(1min);
  CHECK(e.endpoint() == nullptr);
  e.world.reflector.reconsider("shop");
  CHECK(e.world.reaches([&] { return e.endpoint() != nullptr; }, 5s));
  e.world.reflector.reconsider();
  e.world.pass(1min);
  CHECK(e.world.writes() == 2);
  CHECK(e.world.events("AddressLeftOut") == 1);
  // A copy that somebody changes is put right as any other.
  REQUIRE(e.world.milan.update(
      {api::kinds::shadow_endpoint_slices, {"shop-rome", "web"}},
      [](json::object& tree) {
        kube::ensure_object(kube::ensure_object(tree, "spec"), "template")["endpoints"] = json::array();
      },
      actor));
  CHECK(e.endpoint() == nullptr);
  CHECK(e.world.reaches([&] { return e.endpoint() != nullptr; }, 30s));
  REQUIRE(e.world.rome.remove(api::kinds::endpoint_slices, {"shop", "web"}, {}, actor));
  CHECK(e.world.reaches([&] { return !e.endpoint() && !e.copy; }, 5s));
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
  w.reflector.set_policy({.selection = reflection::SelectionPolicy::allow_list, .workers = 1});
  CHECK(w.reaches([&] { return !has("plain"); }, 5s));
  w.create("later", "x");
  w.pass(1min);
  CHECK(has("allowed"));
  CHECK(has(root_ca));
  CHECK_FALSE(has("later"));
  CHECK_FALSE(has("skipped"));
  // One worker for all of a namespace does as well.
  w.reflector.set_policy({.selection = reflection::SelectionPolicy::deny_list, .workers = 1});
  CHECK(w.reaches([&] { return has("plain") && has("later"); }, 5s));
  // What is under way when the policy changes goes by the new one.
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const std::string name = "racing-" + std::to_string(round);
    w.create(name, "x");
    w.pass(std::chrono::milliseconds(round));
    w.reflector.set_policy({.selection = reflection::SelectionPolicy::allow_list});
    CHECK(w.reaches([&] { return !w.reflector.is_busy() && !has(name); }, 10s));
    w.pass(100ms);
    CHECK_FALSE(has(name));
    w.reflector.set_policy({.selection = reflection::SelectionPolicy::deny_list});
    CHECK(w.reaches([&] { return has(name); }, 5s));
  }
  w.pass(10s);
  const std::size_t writes = w.writes();
  w.pass(5min);
  CHECK(w.writes() == writes);
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
  w.reflector.set_policy({.selection = reflection::SelectionPolicy::allow_list});
  CHECK(w.reaches([&] { return !has("used"); }, 5s));
  w.pass(10min);
  CHECK(has("allowed"));
  CHECK_FALSE(has("used"));
  w.reflector.set_policy({.selection = reflection::SelectionPolicy::deny_list});
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
  using reflection::SelectionPolicy;
  const auto say = [&](SelectionPolicy policy) { w.reflector.set_policy({.selection = policy}); };
  const auto stay = [&](bool stays) { w.reflector.set_references("shop", {}, stays); };
  REQUIRE(w.reaches([&] { return has("allowed"); }, 5s));
  CHECK_FALSE(has("plain"));

  for (const bool by_policy : {true, false}) {
    CAPTURE(by_policy);
    by_policy ? say(SelectionPolicy::all) : stay(true);
    CHECK(w.reaches([&] { return has("plain"); }, 10s));
    // What comes later follows by the next list.
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
  using reflection::SelectionPolicy;
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
    // What an earlier process may have left counts no more.
    w.pass(6min);
    want_all(false);
    w.pass(2min);
    CHECK(has());
    CHECK(w.reaches([&] { return !has(); }, 5min));
  }
}

TEST_CASE("a list of home that is behind the last one takes no copies away") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations = {}) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}}},
        actor));
  };
  const auto has = [&](const std::string& name) { return w.milan.get(secrets, {"shop-rome", name}) != nullptr; };
  const std::uint64_t before = w.rome.store().version();
  create("plain");
  create("allowed", {{"liqo.io/allow-reflection", "true"}});
  w.reflector.set_references("shop", {}, true);
  REQUIRE(w.reaches([&] { return has("plain") && has("allowed"); }, 30s));
  w.pass(6min);
  const auto deletes = [&] {
    return std::ranges::count_if(w.milan.writes(), [](const auto& write) { return write.method == "DELETE"; });
  };
  w.rome.manners().cached_at = before;
  w.pass(2min);
  CHECK(deletes() == 0);
  // Who has just begun knows no newer list: before a copy goes it looks for the object itself.
  w.stop();
  w.reflector.stop_namespace("shop");
  w.reflector.start_namespace("shop", "shop-rome");
  w.reflector.set_references("shop", {}, true);
  w.start();
  w.pass(10min);
  CHECK(deletes() == 0);
  REQUIRE(w.rome.remove(secrets, {"shop", "plain"}, {}, actor));
  CHECK(w.reaches([&] { return !has("plain"); }, 1min));
  CHECK(has("allowed"));
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
  // One that Go copied, to which nothing refers; and one that went at home while nobody ran.
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
      [](json::object& tree) {
        kube::ensure_object(kube::ensure_object(tree, "metadata"),
                            "annotations")["offloading.liqo.io/reflected-digest"] = "x";
      },
      actor));
  w.reflector.set_references("shop", {"used", "skipped", "later"});
  REQUIRE(w.reaches([&] { return has("used") && has("allowed"); }, 5s));
  // What is referred to may come later, and change.
  create("later");
  CHECK(w.reaches([&] { return has("later"); }, 30s));
  REQUIRE(w.rome.update(
      {secrets, {"shop", "used"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "eQ=="}}; }, actor));
  CHECK(w.reaches(
      [&] { return kube::string_at(*w.milan.get(secrets, {"shop-rome", "used"}), {"data", "key"}) == "eQ=="; }, 30s));
  CHECK_FALSE(has("unused"));
  CHECK_FALSE(has("skipped"));
  // A provider that makes what looks like a copy gets nothing for it.
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

TEST_CASE("a Secret of the provider that has the name of one at home is no copy of it, and one of the Go version is") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  w.stop();
  const auto create = [&](kube::testing::FakeApiServer& server, std::string_view ns, const char* name,
                          json::object labels = {}) {
    REQUIRE(server.create(secrets,
                          {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"labels", std::move(labels)}}},
                           {"type", "Opaque"}},
                          actor));
  };
  for (const char* name : {"theirs", "of-go"}) create(w.rome, "shop", name);
  create(w.milan, "shop-rome", "theirs");
  create(w.milan, "shop-rome", "of-go",
         {{"offloading.liqo.io/origin", "rome"}, {"offloading.liqo.io/destination", "milan"}});
  w.start();
  w.reflector.set_references("shop", {});
  w.pass(1min);
  for (const auto& [name, original] : {std::pair{"theirs", ""}, {"of-go", "of-go"}}) {
    CAPTURE(name);
    const FoundCopy found = w.reflector.find_copy(
        "shop", name, kube::string_at(*w.milan.get(secrets, {"shop-rome", name}), {"metadata", "uid"}));
    CHECK(found.is_known);
    CHECK(found.name == original);
  }
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
  // Another one of the name is told of.
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
  // What is immutable stays so, and the type of a Secret is what it was made with.
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

TEST_CASE("where all Secrets of a namespace are reflected they are read by one list") {
  World w("Secret");
  w.stop();
  const kube::Resource& secrets = kube::resources::secrets;
  const auto create = [&](const std::string& name, json::object annotations) {
    REQUIRE(w.rome.create(
        secrets,
        {{"metadata", json::object{{"name", name}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
         {"data", json::object{{"key", "eA=="}}}},
        actor));
  };
  for (int i = 0; i < 5; ++i) create("allowed-" + std::to_string(i), {{"liqo.io/allow-reflection", "true"}});
  int gets = 0, lists = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    const bool is_list = request.target.starts_with("/api/v1/namespaces/shop/secrets?");
    const bool reads_metadata = std::ranges::any_of(
        request.headers, [](const auto& header) { return header.second.contains("PartialObjectMetadata"); });
    gets += request.target.starts_with("/api/v1/namespaces/shop/secrets/");
    lists += is_list && !reads_metadata;
  });
  const auto copied = [&] { return w.milan.list(secrets).size(); };
  w.start();
  REQUIRE(w.reaches([&] { return copied() == 5; }));
  CHECK(gets == 0);
  CHECK(lists == 1);
  // One that is not reflected is not read with them.
  w.stop();
  create("private", {});
  w.start();
  w.pass(1min);
  CHECK(copied() == 5);
  CHECK(gets == 5);
  CHECK(lists == 1);
}

TEST_CASE("why a Secret has no copy is told once for each of its versions") {
  World w("Secret");
  const kube::Resource& secrets = kube::resources::secrets;
  REQUIRE(
      w.rome.create(secrets,
                    {{"metadata", json::object{{"name", "token"},
                                               {"namespace", "shop"},
                                               {"annotations", json::object{{"liqo.io/allow-reflection", "true"}}}}},
                     {"type", "kubernetes.io/service-account-token"}},
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

TEST_CASE("where there is nothing at home it is not read, and what is left of it goes") {
  World w;
  for (const char* ns : {"empty", "full", "left"}) {
    REQUIRE(w.milan.create(kube::resources::namespaces,
                           {{"metadata", json::object{{"name", std::string(ns) + "-rome"}}}}, actor));
    w.reflector.start_namespace(ns, std::string(ns) + "-rome");
  }
  w.create("words", "ciao", "full");
  w.create("words", "ciao", "left");
  const auto copied = [&](const std::string& ns) { return w.milan.get(kind, {ns + "-rome", "words"}) != nullptr; };
  REQUIRE(w.reaches([&] { return copied("full") && copied("left"); }));
  w.stop();
  REQUIRE(w.rome.remove(kind, {"left", "words"}, {}, actor));
  w.pass(1s);
  std::set<std::string> read;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    for (const char* ns : {"shop", "empty", "full", "left"})
      if (request.target.contains("/namespaces/" + std::string(ns) + "/")) read.insert(ns);
  });
  w.start();
  CHECK(w.reaches([&] { return !copied("left"); }));
  w.pass(1min);
  CHECK(copied("full"));
  CHECK(read == std::set<std::string>{"full"});
}

TEST_CASE("of many namespaces only some are held at a time, and all are read") {
  World w;
  w.stop();
  constexpr int count = 40;
  const std::string large(200'000, 'x');
  for (int i = 0; i < count; ++i) {
    const std::string ns = "ns" + std::to_string(i);
    w.create("words", large, ns);
    w.reflector.start_namespace(ns, ns + "-rome");
  }
  // Reads that nothing was made of yet: what is held of them is what they have read.
  int read = 0, ahead = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    if (!request.target.starts_with("/api/v1/namespaces/ns")) return;
    ++read;
    ahead = std::max(ahead, read - int(w.milan.list(kind).size()));
  });
  w.start();
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == count; }, 20s));
  CHECK(read == count);
  CHECK(ahead < count);
  // One that holds on to what it has read does not hold up the others for ever.
  w.stop();
  w.to_milan.partition();
  w.start();
  w.pass(1min);
  w.to_milan.heal();
  w.create("words", "small", "late");
  w.reflector.start_namespace("late", "late-rome");
  CHECK(w.reaches([&] { return w.milan.get(kind, {"late-rome", "words"}) != nullptr; }, 2min));
}

TEST_CASE("a namespace that ends while its provider does not answer is not read at home afterwards") {
  World w;
  w.create("words", "here", "late");
  int listed = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    listed += request.target.starts_with("/api/v1/namespaces/late/configmaps");
  });
  w.to_milan.partition();
  w.reflector.start_namespace("late", "late-rome");
  w.pass(5s);
  w.reflector.stop_namespace("late");
  w.to_milan.heal();
  w.pass(2min);
  CHECK(listed == 0);
}

TEST_CASE("while many namespaces get their first copies, others are compared less often, and right within 30 s") {
  World w;
  w.create("words", "here");
  REQUIRE(w.reaches([&] { return w.milan.get(kind, {"shop-rome", "words"}) != nullptr; }));
  constexpr int count = 200;
  const std::string large(200'000, 'x');
  for (int i = 0; i < count; ++i) w.create("words", large, "ns" + std::to_string(i));
  int compared = 0;
  w.to_milan.on_send([&](const kube::HttpRequest& request) {
    if (request.method == "GET" && request.target.starts_with("/api/v1/namespaces/shop-rome/configmaps?")) ++compared;
  });
  w.to_milan.set_faults({.latency_low = 1s, .latency_high = 1s});
  for (int i = 0; i < count; ++i)
    w.reflector.start_namespace("ns" + std::to_string(i), "ns" + std::to_string(i) + "-rome");
  w.pass(10s);
  const kube::TimePoint begin = w.simulator.clock().now();
  for (int turn = 0; turn < 4; ++turn) {
    REQUIRE(w.milan.remove(kind, {"shop-rome", "words"}, {}, actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "here"; }, 30s));
    w.pass(1s);
    REQUIRE(w.milan.update(
        {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "theirs"}}; },
        actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "here"; }, 30s));
    if (w.milan.list(kind).size() >= count) break;
  }
  CHECK(compared > 0);
  CHECK(compared <= 1 + (w.simulator.clock().now() - begin) / 25s);
  w.to_milan.set_faults({});
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == count + 1; }));
  const int before = compared;
  w.pass(90s);
  CHECK(compared >= before + 3);
}

TEST_CASE("of a twin that somebody has filled no more than a thousand unknown names are taken without their budget") {
  World w;
  w.create("words", "here");
  REQUIRE(w.reaches([&] { return w.milan.get(kind, {"shop-rome", "words"}) != nullptr; }));
  w.pass(1min);
  for (int i = 0; i < 1700; ++i)
    REQUIRE(w.milan.create(kind, World::config_map("shop-rome", "theirs-" + std::to_string(i), "x"), "operator"));
  // How many pages each list of the twin has had: the first one compares names, and the second reads all anew.
  std::vector<int> pages;
  w.to_milan.on_send([&](const kube::HttpRequest& request) {
    if (request.method != "GET" || !request.target.starts_with("/api/v1/namespaces/shop-rome/configmaps?")) return;
    if (!request.target.contains("continue=")) pages.push_back(0);
    ++pages.back();
  });
  REQUIRE(w.reaches([&] { return pages.size() == 2 && pages[1] == 4; }, 5min));
  CHECK(pages[0] == 3);
  CHECK(w.at_milan("words") == "here");
}

TEST_CASE("who leads no more forgets what objects referred to") {
  std::vector<std::string> referred;
  World w("Ingress");
  w.reflector.on_references([&](const std::string&, const std::string&, auto secrets) { referred = secrets; });
  REQUIRE(w.rome.create(reflection::find_reflected_kind("Ingress")->resource,
                        {{"metadata", json::object{{"name", "web"}, {"namespace", "shop"}}},
                         {"spec", json::object{{"tls", json::array{json::object{{"secretName", "certificate"}}}}}}},
                        actor));
  REQUIRE(w.reaches([&] { return referred == std::vector<std::string>{"certificate"}; }));
  w.stop();
  CHECK(referred.empty());
  w.start();
  CHECK(w.reaches([&] { return !referred.empty(); }));
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

TEST_CASE("what was read ahead of a twin is parsed within the account of its provider") {
  World w;
  w.create("words", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "x"; }));
  w.stop();
  w.set("words", "y");
  REQUIRE(w.milan.update(
      {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["dense"] = json::array(100'000, 0); }, "operator"));
  bool was_read_alone = false;
  std::size_t held = 0;
  w.milan_transport.rewrite = [&](const kube::HttpRequest& request) {
    was_read_alone = was_read_alone || (request.method == "GET" && request.target.contains("/configmaps/words"));
    if (request.method == "PATCH") held = w.account->held();
  };
  w.start();
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "y"; }));
  CHECK(!was_read_alone);
  CHECK(held > 1 << 20);
  w.pass(1s);
  CHECK(w.account->held() == 0);
}

TEST_CASE("large objects are read in small pages") {
  World w;
  for (int i = 0; i < 40; ++i) w.create("large" + std::to_string(i), std::string(1'000'000, 'x'));
  w.create("small", "x");
  CHECK(w.reaches([&] { return w.milan.list(kind).size() == 41; }, 1min));
  w.stop();
  REQUIRE(w.rome.remove(kind, {"shop", "large7"}, {}, actor));
  w.start();
  CHECK(w.reaches([&] { return w.milan.list(kind).size() == 40; }, 1min));
}

}  // namespace liqo::reflector
