#include "usage/api_service.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "core/usage/metrics_api.hpp"
#include "kube/async/task_group.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"

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
  kube::EventRecorder events{simulator.executor(), api, metrics, "liqod"};
  bool is_ready = true;
  liqo::usage::ApiServiceKeeper keeper{{{simulator.executor(), simulator.clock(), simulator.random(), metrics},
                                        api,
                                        home,
                                        events,
                                        [this] { return is_ready; },
                                        "liqo"}};
  kube::async::TaskGroup group{simulator.executor()};
  std::optional<kube::async::TaskGroup> leading{std::in_place, simulator.executor()};

  World() {
    server.serve(api_services);
    server.serve(cluster_roles);
    server.serve(liqo::api::kinds::endpoint_slices);
    name_front_proxy("authority");
    group.spawn(home.run());
    group.spawn(events.run());
    group.spawn(answer());
    leading->spawn(keeper.run());
  }
  ~World() {
    simulator.run(leading->stop());
    simulator.run(group.stop());
  }

  /// The front-proxy CA of the API server; "" = it has none.
  void name_front_proxy(const std::string& ca) {
    json::object data{{"client-ca-file", "another"}};
    if (!ca.empty()) {
      data["requestheader-client-ca-file"] = ca;
      data["requestheader-allowed-names"] = "[]";
    }
    const json::object metadata{{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}};
    const kube::ObjectKey map{"kube-system", "extension-apiserver-authentication"};
    static_cast<void>(server.remove(kube::resources::config_maps, map, {}, "kubernetes"));
    REQUIRE(server.create(kube::resources::config_maps, {{"metadata", metadata}, {"data", data}}, "kubernetes"));
  }
  /// The API server, which checks the APIService from time to time.
  boost::asio::awaitable<void> answer() {
    for (;;) {
      co_await simulator.clock().sleep(5s);
      const auto found = server.get(api_services, key);
      const std::string wanted = silence.empty() ? "True" : "False";
      if (!found || kube::string_at(*found, {"status", "marked"}) == wanted + silence) continue;
      static_cast<void>(server.update(
          {api_services, key, "status"},
          [&](json::object& tree) {
            tree["status"] = json::object{
                {"marked", wanted + silence},
                {"conditions",
                 json::array{json::object{{"type", "Available"}, {"status", wanted}, {"reason", silence}}}}};
          },
          "kubernetes"));
    }
  }
  /// The reasons of all Events.
  std::vector<std::string> told() {
    std::vector<std::string> reasons;
    for (const auto& event : server.list(kube::resources::events))
      reasons.emplace_back(kube::string_at(*event, {"reason"}));
    return reasons;
  }
  std::string silence;  ///< the reason for which it does not answer; "" = it does
  /// The objects of the chart with metricAgent.enabled.
  void install() {
    REQUIRE(server.create(kube::resources::namespaces, {{"metadata", json::object{{"name", "liqo"}}}}, "helm"));
    REQUIRE(server.create(cluster_roles, {{"metadata", json::object{{"name", metric_agent_role}}}}, "helm"));
    REQUIRE(server.create(kube::resources::services,
                          {{"metadata", json::object{{"name", "liqo-metric-agent"}, {"namespace", "liqo"}}}}, "helm"));
  }
  std::string bundle() {
    const auto found = server.get(api_services, key);
    return found ? kube::decode_base64(kube::string_at(*found, {"spec", "caBundle"})).value_or("") : "none";
  }
  bool becomes(const std::string& wanted, kube::Duration within = 1min) {
    return simulator.run_until([&] { return bundle() == wanted; }, within) == Simulator::End::reached;
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

TEST_CASE("where the API server has no front proxy there is no APIService, and the Service says so") {
  World world;
  world.install();
  world.keeper.trust("authority");
  CHECK(world.becomes("authority"));
  world.name_front_proxy("");
  CHECK(world.becomes("none"));
  world.simulator.run_for(3h);
  CHECK(world.bundle() == "none");
  CHECK(world.told() == std::vector<std::string>{"FiguresNotServed"});
  world.name_front_proxy("authority");
  CHECK(world.becomes("authority"));
}

TEST_CASE("a Service that comes after the want of a front proxy is seen says it, too, and says it once") {
  World world;
  world.name_front_proxy("");
  world.keeper.trust("authority");
  world.simulator.run_for(1min);
  CHECK(world.told().empty());
  world.install();
  world.simulator.run_for(1min);
  CHECK(world.told() == std::vector<std::string>{"FiguresNotServed"});
  world.simulator.run_for(1h);
  CHECK(world.told().size() == 1);
}

TEST_CASE("an APIService that is silent is withdrawn, and tried again every hour for a minute") {
  World world;
  world.install();
  world.keeper.trust("authority");
  CHECK(world.becomes("authority"));
  world.simulator.run_for(10min);
  // As long as no replica is ready it waits, as the rest of Kubernetes does.
  world.silence = "MissingEndpoints";
  world.simulator.run_for(1h);
  CHECK(world.bundle() == "authority");
  world.silence = "FailedDiscoveryCheck";
  world.simulator.run_for(2min);
  CHECK(world.bundle() == "authority");
  CHECK(world.becomes("none", 2min));
  world.simulator.run_for(1s);
  CHECK(world.told() == std::vector<std::string>{"FiguresNotServed"});
  kube::Duration there{}, gone{};
  for (kube::Duration time{}; time < 5h; time += 1s) {
    world.simulator.run_for(1s);
    (world.bundle() == "none" ? gone : there) += 1s;
  }
  CHECK(there >= 3min);
  CHECK(there <= 6min);
  world.silence.clear();
  CHECK(world.becomes("authority", 61min));
  world.simulator.run_for(3h);
  CHECK(world.bundle() == "authority");
}

TEST_CASE(
    "an APIService that was withdrawn is tried again when other API servers come, and when another process leads") {
  World world;
  world.install();
  world.silence = "FailedDiscoveryCheck";
  world.keeper.trust("authority");
  CHECK(world.becomes("authority"));
  CHECK(world.becomes("none", 2min));
  world.silence.clear();
  const json::object slice{
      {"metadata", json::object{{"name", "kubernetes"}, {"namespace", "default"}}},
      {"addressType", "IPv4"},
      {"endpoints", json::array{json::object{{"addresses", json::array{json::value("10.0.0.1")}}}}}};
  REQUIRE(world.server.create(liqo::api::kinds::endpoint_slices, slice, "kubernetes"));
  CHECK(world.becomes("authority"));
  world.silence = "FailedDiscoveryCheck";
  world.simulator.run_for(10min);
  CHECK(world.bundle() == "none");
  world.silence.clear();
  world.simulator.run(world.leading->stop());
  world.leading.emplace(world.simulator.executor());
  world.leading->spawn(world.keeper.run());
  CHECK(world.becomes("authority"));
}

TEST_CASE("a process that is not ready blames no API server for the silence") {
  World world;
  world.is_ready = false;
  world.install();
  world.silence = "FailedDiscoveryCheck";
  world.keeper.trust("authority");
  world.simulator.run_for(10min);
  CHECK(world.bundle() == "none");
  world.is_ready = true;
  CHECK(world.becomes("authority"));
  world.is_ready = false;
  world.simulator.run_for(10min);
  CHECK(world.bundle() == "authority");
}
