#include "controllers/reflection/home_endpoint_watch.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kube/async/task_group.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

json::object metadata(std::string_view name) { return {{"name", name}, {"namespace", "shop"}}; }

}  // namespace

TEST_CASE("a Service and an IP object that were there before their namespace was reflected are missed when they go") {
  kube::testing::Simulator simulator(1);
  kube::Random random(2);
  kube::Metrics metrics;
  kube::testing::FakeApiServer rome{simulator.clock()};
  rome.serve(api::kinds::ips);
  kube::testing::SimLink link{simulator, rome, "liqo"};
  kube::testing::SimTransport transport{link};
  kube::Api api{transport, simulator.clock(), random, metrics, {.cluster = "rome"}};
  kube::InformerSet home{simulator.executor(), api, metrics};
  kube::async::TaskGroup group{simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others};
  group.spawn(home.run());

  REQUIRE(rome.create(kube::resources::services, {{"metadata", metadata("web")}}, "user"));
  REQUIRE(rome.create(api::kinds::ips, {{"metadata", metadata("database")}, {"spec", json::object{{"ip", "10.0.0.9"}}}},
                      "user"));
  REQUIRE(rome.update(
      {api::kinds::ips, {"shop", "database"}, "status"},
      [](json::object& ip) { ip["status"] = json::object{{"ip", "10.80.0.9"}}; }, "user"));
  std::set<std::string> reflected;
  int changes = 0;
  HomeEndpointWatch watch(
      home, "", [&](const std::string& ns) { return reflected.contains(ns); },
      [&](const std::string& ns) { changes += ns == "shop"; });
  watch.start();
  const kube::Object network = kube::Object::make(api::kinds::configurations, {"liqo-tenant-milan", "milan"});
  watch.set_network(std::span(&network, 1));
  REQUIRE(simulator.run_until([&] { return watch.is_known(); }, 30s) == kube::testing::Simulator::End::reached);
  CHECK(changes == 0);

  reflected.insert("shop");
  const auto is_told = [&](int count) {
    return simulator.run_until([&] { return changes == count; }, 30s) == kube::testing::Simulator::End::reached;
  };
  REQUIRE(rome.remove(kube::resources::services, {"shop", "web"}, {}, "user"));
  CHECK(is_told(1));
  REQUIRE(rome.remove(api::kinds::ips, {"shop", "database"}, {}, "user"));
  CHECK(is_told(2));
  simulator.run(group.stop());
}

}  // namespace liqo::controllers
