// The addresses that a provider gave to copies are shown at home, and go with the copies.
#include "controllers/reflection/address_note.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

namespace resources = kube::resources;
constexpr std::string_view shown_key = "offloading.liqo.io/remote-addresses";

json::object service(std::string_view type = "LoadBalancer", json::object annotations = {}) {
  return {{"metadata", json::object{{"name", "door"}, {"namespace", "shop"}, {"annotations", std::move(annotations)}}},
          {"spec", json::object{{"type", type}, {"ports", json::array{json::object{{"port", 80}}}}}}};
}

/// A Service of rome with a copy in milan.
struct Door : World {
  Door() : World("Service") {}

  void open(json::object annotations = {}) {
    REQUIRE(rome.create(resources::services, service("LoadBalancer", std::move(annotations)), actor));
    REQUIRE(reaches([&] { return milan.get(resources::services, {"shop-rome", "door"}) != nullptr; }));
    pass(1s);
  }
  /// Milan's load balancer gives the copy addresses, "" = it takes them away.
  void give(std::string_view address) {
    REQUIRE(milan.update(
        {resources::services, {"shop-rome", "door"}, "status"},
        [&](json::object& tree) {
          json::array ingress;
          if (!address.empty()) ingress.push_back(json::object{{"ip", address}});
          tree["status"] = json::object{{"loadBalancer", json::object{{"ingress", std::move(ingress)}}}};
        },
        "balancer"));
  }
  std::string shown() {
    const auto tree = rome.get(resources::services, {"shop", "door"});
    return tree ? std::string(kube::string_at(*tree, {"metadata", "annotations", shown_key})) : "(gone)";
  }
  bool shows(std::string_view text, kube::Duration limit = 40s) {
    return reaches([&] { return shown() == text; }, limit);
  }
  void annotate(std::string_view key, std::string_view value) {
    REQUIRE(rome.update(
        {resources::services, {"shop", "door"}},
        [&](json::object& tree) { kube::testing::set_annotation(tree, key, value); }, actor));
  }
  std::size_t writes_at_home() {
    return std::size_t(std::ranges::count_if(
        rome.writes(), [](const auto& write) { return write.actor == "liqo" && write.plural == "services"; }));
  }
};

constexpr std::string_view at_milan = R"({"milan":["198.51.100.9"]})";

}  // namespace

TEST_CASE("the address of a copy is shown at home by one write, follows, and is not copied") {
  Door w;
  w.open();
  CHECK(w.shown().empty());
  w.give("198.51.100.9");
  REQUIRE(w.shows(at_milan));
  w.pass(10min);
  CHECK(w.writes_at_home() == 1);
  const auto copy = w.milan.get(resources::services, {"shop-rome", "door"});
  CHECK(kube::string_at(*copy, {"metadata", "annotations", shown_key}).empty());
  const auto door = w.rome.get(resources::services, {"shop", "door"});
  CHECK(kube::object_at(*door, {"status", "loadBalancer"}).empty());
  w.give("198.51.100.10");
  CHECK(w.shows(R"({"milan":["198.51.100.10"]})"));
  w.give("");
  CHECK(w.shows(""));
  w.pass(10min);
  CHECK(w.writes_at_home() == 3);
}

TEST_CASE("the entries of other providers stay, whoever writes at the same time") {
  Door w;
  w.open({{shown_key, R"({"turin":["192.0.2.7"]})"}});
  bool meets = false;
  SUBCASE("nobody does") {}
  SUBCASE("another provider's is written in between") { meets = true; }
  bool was_met = false;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    if (!meets || was_met || request.method != "PATCH" || request.resource != "services") return;
    was_met = true;
    w.annotate(shown_key, R"({"turin":["192.0.2.8"]})");
  });
  w.give("198.51.100.9");
  CHECK(w.shows(meets ? R"({"milan":["198.51.100.9"],"turin":["192.0.2.8"]})"
                      : R"({"milan":["198.51.100.9"],"turin":["192.0.2.7"]})"));
  CHECK(was_met == meets);
  w.give("");
  CHECK(w.shows(meets ? R"({"turin":["192.0.2.8"]})" : R"({"turin":["192.0.2.7"]})"));
}

TEST_CASE("what a user changes of it is right again, and is not fought over") {
  Door w;
  w.open();
  w.give("198.51.100.9");
  REQUIRE(w.shows(at_milan));
  w.pass(1min);
  w.annotate(shown_key, R"({"milan":["203.0.113.1"]})");
  CHECK(w.shows(at_milan, 15s));
  const std::size_t before = w.writes_at_home();
  // A controller takes it away each time.
  for (int i = 0; i < 24 * 60; ++i) {
    w.annotate(shown_key, "");
    w.pass(1min);
  }
  CHECK(w.writes_at_home() - before < 40);
  CHECK(w.shows(at_milan, 2h));
}

TEST_CASE("the addresses go with the copy, and with its type") {
  Door w;
  w.open();
  w.give("198.51.100.9");
  REQUIRE(w.shows(at_milan));
  SUBCASE("the Service is skipped") {
    w.annotate("liqo.io/skip-reflection", "true");
    CHECK(w.shows(""));
    CHECK_FALSE(w.milan.get(resources::services, {"shop-rome", "door"}));
  }
  SUBCASE("somebody removes the copy") {
    REQUIRE(w.milan.remove(resources::services, {"shop-rome", "door"}, {}, "operator"));
    CHECK(w.shows("", 1min));
    CHECK(w.milan.get(resources::services, {"shop-rome", "door"}));
  }
  SUBCASE("it is no load balancer any more") {
    REQUIRE(w.rome.update(
        {resources::services, {"shop", "door"}},
        [](json::object& tree) { tree["spec"].as_object()["type"] = "ClusterIP"; }, actor));
    CHECK(w.shows("", 1min));
  }
}

TEST_CASE("a new process finds what is shown, and changes what is not right any more") {
  Door w;
  w.open();
  w.give("198.51.100.9");
  REQUIRE(w.shows(at_milan));
  w.stop();
  bool is_changed = false;
  SUBCASE("nothing has changed") {}
  SUBCASE("the address has") {
    is_changed = true;
    w.give("198.51.100.10");
  }
  w.start();
  w.pass(2min);
  CHECK(w.shown() == (is_changed ? R"({"milan":["198.51.100.10"]})" : at_milan));
  CHECK(w.writes_at_home() == (is_changed ? 2 : 1));
}

TEST_CASE("a provider that gives other addresses all the time waits for its turn at home") {
  Door w;
  w.open();
  kube::Duration wait = 10min;
  w.home_write = [&] { return wait; };
  for (int i = 0; i < 20; ++i) {
    w.give("198.51.100." + std::to_string(i + 1));
    w.pass(25s);
  }
  CHECK(w.writes_at_home() == 0);
  w.pass(10min);
  CHECK(w.writes_at_home() == 1);
  CHECK(w.shows(R"({"milan":["198.51.100.20"]})", 20min));
}

TEST_CASE("a missing right is asked for once an hour, and reported") {
  Door w;
  std::size_t refused = 0;
  w.rome_transport.refuses = [&refused](const kube::HttpRequest& request) {
    const bool is_write = request.method == "PATCH" && request.resource == "services";
    if (is_write) ++refused;
    return is_write;
  };
  w.open();
  w.give("198.51.100.9");
  CHECK(w.reaches([&] { return w.events("FailedReflection") == 1; }, 1min));
  w.pass(50min);
  CHECK(refused == 1);
  // It is missing for every address.
  w.give("198.51.100.10");
  w.pass(5min);
  CHECK(refused == 1);
  w.rome_transport.refuses = nullptr;
  CHECK(w.shows(R"({"milan":["198.51.100.10"]})", 20min));
}

TEST_CASE("nothing is written while the namespace is not offloaded, although its twin is still there") {
  Door w;
  w.open();
  w.give("198.51.100.9");
  REQUIRE(w.shows(at_milan));
  w.pass(1min);
  w.may_annotate = false;
  w.annotate(shown_key, "");
  w.pass(5min);
  w.give("198.51.100.10");
  w.pass(5min);
  CHECK(w.shown().empty());
  CHECK(w.writes_at_home() == 1);
}

}  // namespace liqo::controllers
