// Addresses of copies go from objects at home when a namespace is offloaded to their provider no longer.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "kube/testing/tree.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;
constexpr std::string_view shown_key = "offloading.liqo.io/remote-addresses";
constexpr std::string_view of_both = R"({"milan":["198.51.100.9"],"turin":["192.0.2.7"]})";

/// Rome, whose namespace shop is offloaded to milan and turin.
struct Home : ClusterFixture {
  Home() : ClusterFixture("rome") {
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "shop"}));
    kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {"shop", "offloading"});
    offloading.mutable_spec()["podOffloadingStrategy"] = "LocalAndRemote";
    apply(kinds::namespace_offloadings, offloading);
    for (const char* provider : {"milan", "turin"}) {
      kube::Object node = kube::Object::make(kinds::virtual_nodes, {tenant(provider), provider});
      node.mutable_spec() = json::object{{"clusterID", provider}, {"createNode", false}};
      apply(kinds::virtual_nodes, node);
    }
    start();
    for (const char* provider : {"milan", "turin"}) REQUIRE(reaches([&] { return asks(provider); }));
    for (const kube::Resource& resource : {resources::services, kinds::ingresses}) {
      kube::Object door = kube::Object::make(resource, {"shop", "door"});
      door.set_annotation(shown_key, of_both);
      door.mutable_spec()["ports"] = json::array{json::object{{"port", 80}}};
      apply(resource, door);
    }
  }
  ~Home() { stop(); }

  std::string shown(const kube::Resource& resource) {
    const auto found = find(resource, {"shop", "door"});
    return found ? std::string(found->annotation(shown_key)) : "(gone)";
  }
  bool show(std::string_view text, kube::Duration limit = 1min) {
    return reaches([&] { return shown(resources::services) == text && shown(kinds::ingresses) == text; }, limit);
  }
  static std::string tenant(const char* provider) { return "liqo-tenant-" + std::string(provider); }
  bool asks(const char* provider) {
    const auto map = find(kinds::namespace_maps, {tenant(provider), provider});
    return map && kube::object_at(map->spec(), {"desiredMapping"}).contains("shop");
  }
};

}  // namespace

TEST_CASE("the entries of providers stay while these are asked for a twin") {
  Home rome;
  rome.pass(10min);
  CHECK(rome.shown(resources::services) == of_both);
  CHECK(rome.shown(kinds::ingresses) == of_both);
}

TEST_CASE("the entry of a provider whose peering ends goes, and that of another one stays") {
  Home rome;
  rome.pass(10s);
  (void)rome.server.remove(kinds::virtual_nodes, {"liqo-tenant-turin", "turin"}, {}, "operator");
  CHECK(rome.show(R"({"milan":["198.51.100.9"]})"));
}

TEST_CASE("what is no entry of a provider goes from the annotation") {
  Home rome;
  rome.pass(10s);
  rome.change(resources::services, {"shop", "door"}, "",
              [](json::object& next) { kube::testing::set_annotation(next, shown_key, "my door"); });
  CHECK(rome.reaches([&] { return rome.shown(resources::services).empty(); }));
}

TEST_CASE("all entries go before a namespace is no longer offloaded") {
  Home rome;
  rome.pass(10s);
  (void)rome.server.remove(kinds::namespace_offloadings, {"shop", "offloading"}, {}, "user");
  CHECK(rome.reaches([&] { return !rome.has(kinds::namespace_offloadings, {"shop", "offloading"}); }, 5min));
  CHECK(rome.shown(resources::services).empty());
  CHECK(rome.shown(kinds::ingresses).empty());
}

}  // namespace liqo::testing
