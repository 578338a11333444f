#include "controllers/reflection/home_endpoint_watch.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

json::object metadata(std::string_view name) { return {{"name", name}, {"namespace", "shop"}}; }

}  // namespace

TEST_CASE("a Service and an IP object that were there before their namespace was reflected are missed when they go") {
  kube::testing::OneCluster rome(
      {.name = "rome", .actor = "liqo", .random = 2, .on_failure = kube::async::TaskGroup::OnFailure::keep_others});
  rome.server.serve(api::kinds::ips);
  rome.group.spawn(rome.informers.run());

  REQUIRE(rome.server.create(kube::resources::services, {{"metadata", metadata("web")}}, "user"));
  REQUIRE(rome.server.create(api::kinds::ips,
                             {{"metadata", metadata("database")}, {"spec", json::object{{"ip", "10.0.0.9"}}}}, "user"));
  REQUIRE(rome.server.update(
      {api::kinds::ips, {"shop", "database"}, "status"},
      [](json::object& ip) { ip["status"] = json::object{{"ip", "10.80.0.9"}}; }, "user"));
  std::set<std::string> reflected;
  int changes = 0;
  HomeEndpointWatch watch(
      rome.informers, "", [&](const std::string& ns) { return reflected.contains(ns); },
      [&](const std::string& ns) { changes += ns == "shop"; });
  watch.start();
  const kube::Object network = kube::Object::make(api::kinds::configurations, {"liqo-tenant-milan", "milan"});
  watch.set_network(std::span(&network, 1));
  REQUIRE(rome.reaches([&] { return watch.is_known(); }, 30s));
  CHECK(changes == 0);

  reflected.insert("shop");
  const auto is_told = [&](int count) { return rome.reaches([&] { return changes == count; }, 30s); };
  REQUIRE(rome.server.remove(kube::resources::services, {"shop", "web"}, {}, "user"));
  CHECK(is_told(1));
  REQUIRE(rome.server.remove(api::kinds::ips, {"shop", "database"}, {}, "user"));
  CHECK(is_told(2));
  rome.stop();
}

TEST_CASE("how the provider's pods are shown leads back to their addresses there, and changes endpoints") {
  kube::testing::OneCluster rome(
      {.name = "rome", .actor = "liqo", .random = 2, .on_failure = kube::async::TaskGroup::OnFailure::keep_others});
  int changes = 0;
  HomeEndpointWatch watch(
      rome.informers, "", [](const std::string&) { return true; },
      [&](const std::string& ns) { changes += ns.empty(); });
  const auto address = *core::IpAddress::parse("10.2.0.21");
  CHECK_FALSE(watch.at_provider(address));
  kube::Object peer = kube::Object::make(api::kinds::foreign_clusters, {"", "milan"});
  peer.set_annotation("liqo.io/remote-pod-cidrs", "10.2.0.0/16");
  for (int i = 0; i < 2; ++i) watch.set_shown(core::PeerAddresses::of(peer, {}, {}));
  CHECK(changes == 1);
  CHECK(watch.at_provider(address) == address);
  rome.stop();
}

}  // namespace liqo::controllers
