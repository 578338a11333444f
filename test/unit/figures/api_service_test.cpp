#include "liqo/figures/api_service.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/fake_garbage_collector.hpp"
#include "kube/testing/sim_link.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/figures/metrics_api.hpp"

namespace {

using namespace std::chrono_literals;
namespace json = kube::json;
using kube::testing::Simulator;
using liqo::api::metric_agent_role;
using liqo::api::kinds::api_services;
using liqo::api::kinds::cluster_roles;

const kube::ObjectKey key{"", std::string(liqo::core::metrics_api_service)};

struct World {
  Simulator simulator{1};
  kube::Metrics metrics;
  kube::testing::FakeApiServer server{simulator.clock()};
  kube::testing::FakeGarbageCollector collector{simulator, server};
  kube::testing::SimLink link{simulator, server, "liqo"};
  kube::testing::SimTransport transport{link};
  kube::Api api{transport, simulator.clock(), simulator.random(), metrics, {.cluster = "milan"}};
  kube::InformerSet home{simulator.executor(), api, metrics};
  liqo::figures::ApiServiceKeeper keeper{
      {simulator.executor(), simulator.clock(), simulator.random(), metrics}, api, home, "liqo"};
  kube::async::TaskGroup group{simulator.executor()};

  World() {
    server.serve(api_services);
    server.serve(cluster_roles);
    group.spawn(home.run());
    group.spawn(keeper.run());
  }
  ~World() { simulator.run(group.stop()); }

  /// What the chart brings with metricAgent.enabled.
  void install() {
    REQUIRE(server.create(kube::resources::namespaces, {{"metadata", json::object{{"name", "liqo"}}}}, "helm"));
    REQUIRE(server.create(cluster_roles, {{"metadata", json::object{{"name", metric_agent_role}}}}, "helm"));
  }
  std::string bundle() {
    const auto found = server.get(api_services, key);
    return found ? kube::decode_base64(kube::string_at(*found, {"spec", "caBundle"})).value_or("") : "none";
  }
  bool becomes(const std::string& wanted) {
    return simulator.run_until([&] { return bundle() == wanted; }, 1min) == Simulator::End::reached;
  }
};

}  // namespace

TEST_CASE("the APIService is there once there is a certificate, and is put right when somebody changes it") {
  World world;
  world.install();
  world.simulator.run_for(1min);
  CHECK(world.bundle() == "none");
  world.keeper.trust("authority");
  CHECK(world.becomes("authority"));
  const auto made = world.server.get(api_services, key);
  CHECK(kube::string_at(*made, {"spec", "service", "name"}) == "liqo-metric-agent");
  CHECK(kube::string_at(*made, {"spec", "service", "namespace"}) == "liqo");
  REQUIRE(world.server.update(
      {api_services, key},
      [](json::object& tree) {
        kube::ensure_object(tree, "spec").erase("caBundle");
        kube::ensure_object(tree, "spec")["insecureSkipTLSVerify"] = true;
      },
      "somebody"));
  CHECK(world.becomes("authority"));
  CHECK_FALSE(kube::bool_at(*world.server.get(api_services, key), {"spec", "insecureSkipTLSVerify"}));
  world.keeper.trust("next");
  CHECK(world.becomes("next"));
  REQUIRE(world.server.remove(api_services, key, {}, "somebody"));
  CHECK(world.becomes("next"));
  world.simulator.run_for(1min);
  const std::size_t writes = world.server.writes().size();
  world.simulator.run_for(1h);
  CHECK(world.server.writes().size() == writes);
}

TEST_CASE("the APIService goes with its role, and none is made without that") {
  World world;
  world.keeper.trust("authority");
  world.simulator.run_for(1min);
  CHECK(world.bundle() == "none");
  world.install();
  CHECK(world.simulator.run_until([&] { return world.bundle() == "authority"; }, 10min) == Simulator::End::reached);
  REQUIRE(world.server.remove(cluster_roles, {"", std::string(metric_agent_role)}, {}, "helm"));
  CHECK(world.becomes("none"));
  world.simulator.run_for(10min);
  CHECK(world.bundle() == "none");
}

TEST_CASE("the APIService goes first where the namespace of its Service is being removed") {
  World world;
  world.install();
  world.keeper.trust("authority");
  CHECK(world.becomes("authority"));
  const kube::ObjectKey space{"", "liqo"};
  REQUIRE(world.server.update(
      {kube::resources::namespaces, space},
      [](json::object& tree) {
        tree["metadata"].as_object()["finalizers"] = json::array{json::value("example.org/content")};
      },
      "somebody"));
  REQUIRE(world.server.remove(kube::resources::namespaces, space, {}, "somebody"));
  CHECK(world.becomes("none"));
  world.keeper.trust("next");
  world.simulator.run_for(10min);
  CHECK(world.bundle() == "none");
}

TEST_CASE("the APIService of another installation is left alone") {
  World world;
  world.install();
  const json::object spec{{"service", json::object{{"name", "liqo-metric-agent"}, {"namespace", "elsewhere"}}},
                          {"insecureSkipTLSVerify", true}};
  REQUIRE(world.server.create(api_services, {{"metadata", json::object{{"name", key.name}}}, {"spec", spec}}, "helm"));
  world.keeper.trust("authority");
  world.simulator.run_for(10min);
  CHECK(world.bundle().empty());
}
