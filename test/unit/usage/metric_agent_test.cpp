#include "usage/metric_agent.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"
#include "core/usage/metrics_api.hpp"
#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace {

using namespace liqo::usage;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace json = kube::json;

struct World : kube::testing::OneCluster {
  kube::SoleLeader leadership{simulator.executor()};
  std::string kubelet_says = "m{namespace=\"shop-rome\",pod=\"web\"} 1\nm{namespace=\"shop-paris\",pod=\"web\"} 2\n";
  std::vector<std::string> asked;
  MetricAgent agent;

  World()
      : kube::testing::OneCluster({.name = "milan", .actor = "liqo", .component = "liqod"}),
        agent({environment(),
               informers,
               api,
               api,
               leadership,
               events,
               [] { return true; },
               [](std::string_view consumer) {
                 liqo::core::NodeView node{.name = "milan-1", .address = "10.0.0.1", .port = 10250, .twins = {}};
                 node.twins["shop-" + std::string(consumer)] = {.original = "shop", .pods = {"web"}};
                 return std::vector{node};
               },
               {},
               [this](std::string, std::uint16_t, std::string path, kube::Deadline) {
                 return answer(*this, std::move(path));
               }},
              {.port = 0}) {
    server.serve(liqo::api::kinds::api_services);
    server.serve(liqo::api::kinds::cluster_roles);
    server.serve(liqo::api::kinds::endpoint_slices);
    const json::object data{{"requestheader-client-ca-file", ""},
                            {"requestheader-allowed-names", R"(["front-proxy"])"},
                            {"requestheader-username-headers", R"(["X-Remote-User"])"},
                            {"requestheader-group-headers", R"(["X-Remote-Group"])"}};
    REQUIRE(server.create(
        kube::resources::config_maps,
        {{"metadata", json::object{{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}}},
         {"data", data}},
        "kubernetes"));
    REQUIRE(server.create(kube::resources::service_accounts,
                          {{"metadata", json::object{{"name", "liqo-metric-agent"}, {"namespace", "liqo"}}}}, "helm"));
    REQUIRE(agent.listen());
    group.spawn(informers.run());
    group.spawn(agent.run());
    REQUIRE(reaches([this] { return agent.waiting_for().empty() && informers.has_synced(); }));
    // The token for kubelets.
    simulator.run_for(10s);
  }
  ~World() { stop(); }

  static asio::awaitable<kube::Result<KubeletResponse>> answer(World& world, std::string path) {
    world.asked.push_back(std::move(path));
    kube::net::Response response;
    response.head.status = 200;
    response.body = std::make_unique<liqo::test::FakeBody>(std::vector{world.kubelet_says}, std::nullopt);
    co_return KubeletResponse{.connection = nullptr, .response = std::move(response)};
  }
  liqo::test::FakeResponse get(std::string target, std::string user, std::string group_name,
                               std::string method = "GET") {
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    if (!user.empty())
      request.headers = {{"x-remote-user", std::move(user)}, {"x-remote-group", std::move(group_name)}};
    liqo::test::FakeResponse response;
    simulator.run(agent.handle(request, response));
    return response;
  }
};

const std::string scrape = "/apis/metrics.liqo.io/v1beta1/scrape/";

}  // namespace

TEST_CASE("a consumer is told the figures of its own pods, and is refused those of others") {
  World world;
  const auto told = world.get(scrape + "rome/metrics/cadvisor?x=y", "pool-1234", "rome");
  CHECK(told.status == 200);
  CHECK(told.header("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(told.body == "m{namespace=\"shop\",pod=\"web\"} 1\n");
  CHECK(world.asked == std::vector<std::string>{"/metrics/cadvisor"});

  const auto refused = world.get(scrape + "paris/metrics/cadvisor", "pool-1234", "rome");
  CHECK(refused.status == 403);
  CHECK(refused.body ==
        "the metrics of cluster \"paris\" are not for user \"pool-1234\", who is not of that cluster\n");
  CHECK(world.asked.size() == 1);
}

TEST_CASE("what is not to be had is refused before a kubelet is asked") {
  World world;
  CHECK(world.get(scrape + "rome/metrics", "", "rome").status == 401);
  CHECK(world.get(scrape + "rome/metrics", "pool-1234", "rome", "POST").status == 405);
  CHECK(world.get(scrape + "rome/run/web", "pool-1234", "rome").status == 400);
  CHECK(world.get("/apis/metrics.liqo.io/v1beta1/nodes", "pool-1234", "rome").status == 404);
  CHECK(world.asked.empty());
}

TEST_CASE("discovery is for everybody whom the front proxy names") {
  World world;
  for (const char* path :
       {"/apis", "/apis/metrics.liqo.io", "/apis/metrics.liqo.io/v1beta1", "/openapi/v2", "/openapi/v3"}) {
    CAPTURE(path);
    const auto told = world.get(path, "system:kube-aggregator", "system:masters");
    CHECK(told.status == 200);
    CHECK(told.header("content-type") == "application/json");
    CHECK(world.get(path, "", "").status == 401);
  }
}

TEST_CASE("an answer that is long is sent in pieces") {
  World world;
  world.kubelet_says.clear();
  for (int i = 0; i < 5000; ++i)
    world.kubelet_says += "m{namespace=\"shop-rome\",pod=\"web\",n=\"" + std::to_string(i) + "\"} 1\n";
  const auto told = world.get(scrape + "rome/metrics", "pool-1234", "rome");
  CHECK(told.writes.size() > 1);
  CHECK(std::ranges::count(told.body, '\n') == 5000);
}
