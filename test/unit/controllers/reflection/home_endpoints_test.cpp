// The consumer's half of Services: the endpoints at home that a provider gets, and what decides about them.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

struct Home : Offloading {
  explicit Home(controllers::Settings settings = {}, std::function<void(kube::HttpRequest&)> home_reads = {})
      : Offloading(std::move(home_reads)) {
    stop();
    for (const kube::Resource& kind : {kinds::ips, kinds::configurations}) server.serve(kind);
    milan.serve(kinds::shadow_endpoint_slices);
    kube::Object there = kube::Object::make(resources::namespaces, {"", twin});
    there.set_annotation(api::annotations::checks_owners, "true");
    REQUIRE(milan.create(resources::namespaces, there.tree(), "milan"));
    kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "milan"});
    peer.mutable_spec()["clusterID"] = "milan";
    apply(kinds::foreign_clusters, peer);
    start(std::move(settings));
  }
  /// `manager`: who writes the slice, as Kubernetes does for a Service with a selector; "" = somebody by hand.
  void slice(std::string_view name, json::array endpoints,
             std::string_view manager = "endpointslice-controller.k8s.io") {
    kube::Object made = kube::Object::make(kinds::endpoint_slices, {shop, std::string(name)});
    made.set_label(api::labels::service_name, "db");
    if (!manager.empty()) made.set_label(api::labels::endpoint_slice_manager, manager);
    made.tree()["addressType"] = "IPv4";
    made.tree()["endpoints"] = std::move(endpoints);
    apply(kinds::endpoint_slices, made);
  }
  static json::object endpoint(std::string_view address, std::string_view node = "worker") {
    return {{"addresses", json::array{json::string(address)}}, {"nodeName", node}};
  }
  /// "10.1.0.1 10.1.0.2"; "(none)" if there is no ShadowEndpointSlice.
  std::string sent(std::string_view name) {
    const auto copy = at_milan(kinds::shadow_endpoint_slices, name);
    if (!copy) return "(none)";
    std::string text;
    for (const json::value& one : kube::array_at(copy->spec(), {"template", "endpoints"}))
      for (const json::value& address : kube::array_at(one, {"addresses"}))
        text += (text.empty() ? "" : " ") + std::string(address.get_string());
    return text;
  }
  bool sends(std::string_view name, std::string_view addresses) {
    return reaches([&] { return sent(name) == addresses; });
  }
};

}  // namespace

TEST_CASE("endpoints follow the network, IP objects, virtual nodes and what their Service says") {
  Home world;
  world.slice("db-1", {Home::endpoint("10.1.0.1")});
  world.pass(10s);
  // Nothing is known of how its Service is to be reflected.
  CHECK(world.sent("db-1") == "(none)");
  kube::Object service = kube::Object::make(resources::services, {shop, "db"});
  world.apply(resources::services, service);
  CHECK(world.sends("db-1", "10.1.0.1"));
  world.slice("db-1", {Home::endpoint("10.1.0.1"), Home::endpoint("192.0.2.9"), Home::endpoint("10.9.0.1", "milan")});
  CHECK(world.sends("db-1", "10.1.0.1 192.0.2.9"));

  // Over a network not everything is reached.
  kube::Object network = kube::Object::make(kinds::configurations, {tenant, "milan"});
  network.set_label(api::labels::remote_cluster_id, "milan");
  network.mutable_spec() = json::object{{"local", json::object{{"cidr", json::object{{"pod", {"10.1.0.0/16"}}}}}}};
  world.apply(kinds::configurations, network);
  CHECK(world.sends("db-1", "10.1.0.1"));
  CHECK(world.reaches([&] { return world.events("AddressLeftOut").size() == 1; }));
  CHECK(world.events("AddressLeftOut")[0].starts_with("1 of 2 addresses are left out for cluster milan, "));
  kube::Object ip = kube::Object::make(kinds::ips, {shop, "db"});
  ip.mutable_spec()["ip"] = "192.0.2.9";
  world.apply(kinds::ips, ip);
  world.pass(10s);
  CHECK(world.sent("db-1") == "10.1.0.1");
  world.change(kinds::ips, {shop, "db"}, "status",
               [](json::object& next) { next["status"] = json::object{{"ip", "10.70.0.1"}}; });
  CHECK(world.sends("db-1", "10.1.0.1 10.70.0.1"));

  // A pod on another virtual node of the provider is one of its own, too.
  world.slice("db-2", {Home::endpoint("10.1.0.2", "milan-2")});
  CHECK(world.sends("db-2", "10.1.0.2"));
  world.virtual_node("milan-2");
  CHECK(world.sends("db-2", ""));
  // No selector finds the pods that somebody names by hand.
  world.slice("db-3", {Home::endpoint("10.9.0.1", "milan")}, "");
  CHECK(world.sends("db-3", "10.9.0.1"));

  service.set_annotation(api::annotations::skip_reflection, "true");
  world.apply(resources::services, service);
  CHECK(world.sends("db-1", "(none)"));
  CHECK(world.sends("db-2", "(none)"));
  CHECK(world.sends("db-3", "(none)"));
  CHECK(world.events("AddressLeftOut").size() == 1);
  // Its annotation holds beyond its end.
  REQUIRE(world.server.remove(resources::services, {shop, "db"}, {}, "operator"));
  world.pass(20s);
  CHECK(world.sent("db-1") == "(none)");
}

TEST_CASE("what decides nothing about endpoints has none of them read") {
  Home world;
  kube::Object service = kube::Object::make(resources::services, {shop, "db"});
  world.apply(resources::services, service);
  kube::Object ip = kube::Object::make(kinds::ips, {shop, "db"});
  ip.mutable_spec()["ip"] = "192.0.2.9";
  world.apply(kinds::ips, ip);
  world.slice("db-1", {Home::endpoint("10.1.0.1")});
  REQUIRE(world.sends("db-1", "10.1.0.1"));
  world.pass(30s);
  const auto reads = [&] {
    std::uint64_t count = 0;
    for (const auto& write : world.link.reads())
      if (write.first.find("/shop/endpointslices") != std::string::npos) count += write.second;
    return count;
  };
  const std::uint64_t before = reads(), requests = world.to_milan.requests();
  for (int i = 0; i < 20; ++i) {
    ip.set_label("round", std::to_string(i));
    world.apply(kinds::ips, ip);
    service.set_label("round", std::to_string(i));
    world.apply(resources::services, service);
    world.pass(100ms);
  }
  CHECK(reads() == before);
  CHECK(world.to_milan.requests() - requests < 60);
}

TEST_CASE("endpoints are sent though IP objects may not be read") {
  Home world(controllers::Settings(), [](kube::HttpRequest& request) {
    if (request.target.starts_with("/apis/ipam.liqo.io/v1alpha1/ips")) request.target = "/apis/ipam.liqo.io/v9/ips";
  });
  world.apply(resources::services, kube::Object::make(resources::services, {shop, "db"}));
  world.slice("db-1", {Home::endpoint("10.1.0.1")});
  CHECK(world.sends("db-1", "10.1.0.1"));
}

TEST_CASE("where addresses are not to be reflected no endpoints are, and those that were go") {
  Home world;
  world.slice("db-1", {Home::endpoint("10.1.0.1")});
  world.apply(resources::services, kube::Object::make(resources::services, {shop, "db"}));
  REQUIRE(world.sends("db-1", "10.1.0.1"));
  world.stop();
  controllers::Settings settings;
  settings.offloading.reflect_ips = false;
  world.start(settings);
  CHECK(world.sends("db-1", "(none)"));
  world.slice("db-2", {Home::endpoint("10.1.0.1")});
  world.pass(1min);
  CHECK(world.sent("db-2") == "(none)");
}

}  // namespace liqo::testing
