#include "controllers/offloading/consumer_pods.hpp"

#include <doctest/doctest.h>

#include "kube/testing/one_cluster.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

struct Milan : kube::testing::OneCluster {
  ConsumerPods pods{informers};

  Milan()
      : kube::testing::OneCluster({.name = "milan",
                                   .actor = "liqo",
                                   .random = 2,
                                   .on_failure = kube::async::TaskGroup::OnFailure::keep_others}) {
    group.spawn(informers.run());
  }
  ~Milan() { stop(); }

  void twin(std::string_view name, std::string_view consumer, std::string_view original) {
    json::object metadata{{"name", name},
                          {"labels", json::object{{std::string(api::labels::remote_cluster_id), consumer}}}};
    if (!original.empty())
      metadata["annotations"] = json::object{{std::string(api::annotations::original_name), original}};
    REQUIRE(server.create(kube::resources::namespaces, {{"metadata", std::move(metadata)}}, "user"));
  }
  void node(std::string_view name, std::string_view ready, std::string_view address, bool is_virtual = false) {
    json::object metadata{{"name", name}};
    if (is_virtual) metadata["labels"] = json::object{{std::string(api::labels::type), api::labels::type_virtual_node}};
    REQUIRE(server.create(kube::resources::nodes, {{"metadata", std::move(metadata)}}, "user"));
    REQUIRE(server.update(
        {kube::resources::nodes, {"", std::string(name)}, "status"},
        [&](json::object& tree) {
          tree["status"] =
              json::object{{"conditions", json::array{json::object{{"type", "Ready"}, {"status", ready}}}},
                           {"addresses", json::array{json::object{{"type", "Hostname"}, {"address", "x"}},
                                                     json::object{{"type", "InternalIP"}, {"address", address}}}},
                           {"daemonEndpoints", json::object{{"kubeletEndpoint", json::object{{"Port", 10250}}}}}};
        },
        "user"));
  }
  void pod(std::string_view ns, std::string_view name, std::string_view origin, std::string_view node) {
    const json::object labels{
        {std::string(api::labels::managed_by), api::labels::managed_by_shadow_pod},
        {std::string(api::labels::reflection_origin), origin},
    };
    const json::object spec{{"nodeName", node},
                            {"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}};
    REQUIRE(server.create(
        kube::resources::pods,
        {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"labels", labels}}}, {"spec", spec}}, "user"));
  }
  void wait_synced() {
    REQUIRE(reaches([this] { return pods.has_synced(); }, 30s));
  }
};

}  // namespace

TEST_CASE("a consumer's pods are found by the nodes that run them, and nobody else's") {
  Milan milan;
  milan.twin("shop-rome", "rome", "shop");
  milan.twin("shop-paris", "paris", "shop");
  milan.twin("liqo-tenant-rome", "rome", "");
  milan.node("milan-1", "True", "10.0.0.1");
  milan.node("milan-2", "True", "10.0.0.2");
  milan.node("milan-3", "Unknown", "10.0.0.3");
  milan.node("turin", "True", "10.0.0.4", true);
  milan.pod("shop-rome", "web", "rome", "milan-1");
  milan.pod("shop-rome", "db", "rome", "milan-2");
  milan.pod("shop-rome", "lost", "rome", "milan-3");
  milan.pod("shop-rome", "further", "rome", "turin");
  milan.pod("shop-rome", "waits", "rome", "");
  milan.pod("shop-rome", "foreign", "paris", "milan-1");
  milan.pod("shop-paris", "web", "paris", "milan-1");
  milan.pod("liqo-tenant-rome", "odd", "rome", "milan-1");
  milan.wait_synced();

  const std::vector<core::NodeView> expected{
      {.name = "milan-1",
       .address = "10.0.0.1",
       .port = 10250,
       .twins = {{"shop-rome", {.original = "shop", .pods = {"web"}}}}},
      {.name = "milan-2",
       .address = "10.0.0.2",
       .port = 10250,
       .twins = {{"shop-rome", {.original = "shop", .pods = {"db"}}}}},
  };
  CHECK(milan.pods.nodes_of("rome") == expected);
  CHECK(milan.pods.nodes_of("turin").empty());
  const auto of_paris = milan.pods.nodes_of("paris");
  REQUIRE(of_paris.size() == 1);
  CHECK(of_paris.front().twins.size() == 1);

  REQUIRE(milan.server.remove(kube::resources::pods, {"shop-rome", "db"}, {.grace_period_seconds = 0}, "user"));
  CHECK(milan.reaches([&] { return milan.pods.nodes_of("rome").size() == 1; }, 30s));
}

}  // namespace liqo::controllers
