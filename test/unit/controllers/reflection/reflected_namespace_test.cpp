// The times at which the objects of a namespace are looked at again.
#include "controllers/reflection/reflected_namespace.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "endpoints_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {

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
  // Changes come even while a write is under way.
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
  core::ForgingContext forging = controllers::forging();
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
  // A copy that others change is corrected like any other.
  REQUIRE(e.world.milan.update(
      {api::kinds::shadow_endpoint_slices, {"shop-rome", "web"}},
      [](json::object& tree) { kube::testing::ensure_path(tree, {"spec", "template"})["endpoints"] = json::array(); },
      actor));
  CHECK(e.endpoint() == nullptr);
  CHECK(e.world.reaches([&] { return e.endpoint() != nullptr; }, 30s));
  REQUIRE(e.world.rome.remove(api::kinds::endpoint_slices, {"shop", "web"}, {}, actor));
  CHECK(e.world.reaches([&] { return !e.endpoint() && !e.copy; }, 5s));
}

}  // namespace liqo::controllers
