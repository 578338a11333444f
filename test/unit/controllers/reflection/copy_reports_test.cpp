// Reports about copies as a provider stores them, and names that lead to other namespaces.
#include "controllers/reflection/copy_reports.hpp"

#include <map>
#include <string>
#include <string_view>

#include "kube/testing/tree.hpp"
#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

const kube::Resource& services = kube::resources::services;

json::object service(json::object spec) {
  spec["ports"] = json::array{json::object{{"port", 80}}};
  return {{"metadata", json::object{{"name", "door"}, {"namespace", "shop"}}}, {"spec", std::move(spec)}};
}

/// A Service or an Ingress of rome, and its copy.
struct Copied : World {
  explicit Copied(std::string_view reflected = "Service", core::ForgingContext ctx = controllers::forging())
      : World(reflected, std::move(ctx)) {}

  void create(const kube::Resource& resource, const json::object& object) {
    REQUIRE(rome.create(resource, object, actor));
    REQUIRE(reaches([&] { return milan.get(resource, {"shop-rome", "door"}) != nullptr; }));
    pass(1s);
  }
  /// Milan's load balancer gives the copy an address, or takes it away.
  void give(bool address) {
    REQUIRE(milan.update(
        {services, {"shop-rome", "door"}, "status"},
        [&](json::object& tree) {
          json::array ingress;
          if (address) ingress.push_back(json::object{{"ip", "198.51.100.9"}});
          tree["status"] = json::object{{"loadBalancer", json::object{{"ingress", std::move(ingress)}}}};
        },
        "balancer"));
  }
  /// How often an Event with that reason was written.
  std::int64_t told(std::string_view reason) {
    std::int64_t count = 0;
    for (const auto& tree : rome.list(kube::resources::events))
      if (kube::string_at(*tree, {"reason"}) == reason) count += kube::int_at(*tree, {"count"}, 1);
    return count;
  }
  std::string leads_to() {
    const auto tree = milan.get(services, {"shop-rome", "door"});
    return tree ? std::string(kube::string_at(*tree, {"spec", "externalName"})) : "(none)";
  }
};

}  // namespace

TEST_CASE("a copy that has waited long for an address is reported once, after one more look at it") {
  std::size_t looks = 0;
  Copied w;
  w.create(services, service({{"type", "LoadBalancer"}}));
  w.pass(100s);
  CHECK(w.told("NoRemoteAddress") == 0);
  CHECK(w.reaches([&] { return w.told("NoRemoteAddress") == 1; }, 40s));
  w.to_milan.on_send([&](const kube::HttpRequest& request) { looks += request.target.contains("/services/door"); });
  w.pass(1h);
  CHECK(w.told("NoRemoteAddress") == 1);
  CHECK(looks == 0);
  CHECK(w.writes() == 1);
}

TEST_CASE("a copy that gets its address in time is not reported, but if it loses it for long") {
  Copied w;
  w.create(services, service({{"type", "LoadBalancer"}}));
  w.pass(30s);
  w.give(true);
  w.pass(10min);
  CHECK(w.told("NoRemoteAddress") == 0);
  w.give(false);
  w.pass(1min);
  w.give(true);
  w.pass(10min);
  CHECK(w.told("NoRemoteAddress") == 0);
  w.give(false);
  CHECK(w.reaches([&] { return w.told("NoRemoteAddress") == 1; }, 4min));
}

TEST_CASE("an address that comes just before its copy is reported is seen") {
  Copied w;
  w.create(services, service({{"type", "LoadBalancer"}}));
  w.pass(118s);
  w.give(true);
  w.pass(10min);
  CHECK(w.told("NoRemoteAddress") == 0);
}

TEST_CASE("nothing is reported of a copy that is not wanted any more, or waits for nothing") {
  Copied w;
  SUBCASE("it is skipped") {
    w.create(services, service({{"type", "LoadBalancer"}}));
    REQUIRE(w.rome.update(
        {services, {"shop", "door"}},
        [](json::object& tree) { kube::testing::set_annotation(tree, "liqo.io/skip-reflection", "true"); }, actor));
  }
  SUBCASE("it is deleted") {
    w.create(services, service({{"type", "LoadBalancer"}}));
    REQUIRE(w.rome.remove(services, {"shop", "door"}, {}, actor));
  }
  SUBCASE("it has another type") { w.create(services, service({{"type", "NodePort"}})); }
  w.pass(20min);
  CHECK(w.told("NoRemoteAddress") == 0);
}

TEST_CASE("a provider that does not answer when the patience is over is asked later") {
  Copied w;
  w.create(services, service({{"type", "LoadBalancer"}}));
  w.pass(115s);
  w.to_milan.set_faults({.unavailable = 1});
  w.pass(30s);
  CHECK(w.told("NoRemoteAddress") == 0);
  w.to_milan.set_faults({});
  CHECK(w.reaches([&] { return w.told("NoRemoteAddress") == 1; }, 5min));
}

TEST_CASE("traffic that stays on the provider's nodes is reported once, however the Service changes") {
  Copied w;
  w.create(services, service({{"type", "ClusterIP"}, {"internalTrafficPolicy", "Local"}}));
  CHECK(w.reaches([&] { return w.told("CopyDiffers") == 1; }));
  for (int port = 81; port < 90; ++port) {
    REQUIRE(w.rome.update(
        {services, {"shop", "door"}},
        [&](json::object& tree) { tree["spec"].as_object()["ports"] = json::array{json::object{{"port", port}}}; },
        actor));
    w.pass(1min);
    w.reflector.reconsider();
  }
  CHECK(w.told("CopyDiffers") == 1);
}

TEST_CASE("an Ingress without a class is reported, until its provider offers one") {
  Copied w("Ingress");
  w.create(api::kinds::ingresses,
           {{"metadata", json::object{{"name", "door"}, {"namespace", "shop"}}}, {"spec", json::object()}});
  CHECK(w.reaches([&] { return w.told("CopyDiffers") == 1; }));
  w.pass(20min);
  CHECK(w.told("NoRemoteAddress") == 0);
  core::ForgingContext with_class = controllers::forging();
  with_class.ingress_class = "theirs";
  w.reflector.set_forging(std::move(with_class));
  // It waits for an address from now on.
  CHECK(w.reaches([&] { return w.told("NoRemoteAddress") == 1; }, 4min));
  CHECK(w.told("CopyDiffers") == 1);
}

TEST_CASE("a name of another namespace follows the twin of that namespace") {
  std::map<std::string, std::string> twins{{"shop", "shop-rome"}};
  core::ForgingContext ctx = controllers::forging();
  ctx.twins = &twins;
  Copied w("Service", std::move(ctx));
  w.create(services, service({{"type", "ExternalName"}, {"externalName", "pg.bank.svc.cluster.local"}}));
  CHECK(w.leads_to() == "pg.bank.svc.cluster.local");
  CHECK(w.reaches([&] { return w.told("AddressLeftOut") == 1; }));
  w.pass(1min);
  twins["bank"] = "bank-rome";
  w.reflector.start_namespace("bank", "bank-rome");
  CHECK(w.reaches([&] { return w.leads_to() == "pg.bank-rome.svc.cluster.local"; }, 5s));
  w.pass(10min);
  const std::size_t writes = w.writes();
  w.pass(10min);
  CHECK(w.writes() == writes);
  twins.erase("bank");
  w.reflector.stop_namespace("bank");
  CHECK(w.reaches([&] { return w.leads_to() == "pg.bank.svc.cluster.local"; }, 5s));
  CHECK(w.reaches([&] { return w.told("AddressLeftOut") == 2; }));
}

}  // namespace liqo::controllers
