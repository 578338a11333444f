// The NamespaceMap of a consumer with many namespaces: how often it is written, and how much it asks for.
#include <doctest/doctest.h>

#include "../adds.hpp"
#include "../cluster_fixture.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

const kube::ObjectKey map_key{"liqo-tenant-milan", "milan"};

/// Consumer rome with a virtual node of milan, without a connection to it.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome") {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {map_key.ns, "milan"});
    node.mutable_spec() = json::object{{"clusterID", "milan"}, {"createNode", false}};
    apply(kinds::virtual_nodes, node);
    start();
    REQUIRE(reaches([&] { return has(kinds::namespace_maps, map_key); }));
  }
  ~Consumer() { stop(); }

  static std::string name_of(std::size_t number) { return "n" + std::to_string(number); }
  void offload(std::size_t number) {
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", name_of(number)}));
    apply(kinds::namespace_offloadings,
          kube::Object::make(kinds::namespace_offloadings, {name_of(number), "offloading"}));
  }
  std::size_t asked() {
    return kube::object_at(find(kinds::namespace_maps, map_key)->spec(), {"desiredMapping"}).size();
  }
  std::size_t map_writes() const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      if (write.actor == link.actor() && write.plural == "namespacemaps") ++count;
    return count;
  }
  /// Why a namespace is not offloaded, "" = it may be.
  std::string trouble(std::size_t number) {
    const auto found = find(kinds::namespace_offloadings, {name_of(number), "offloading"});
    for (const json::value& one : kube::array_at(found->status(), {"remoteNamespacesConditions", "milan"}))
      if (kube::string_at(one, {"reason"}) == "CreationLoopBackOff")
        return std::string(kube::string_at(one, {"message"}));
    return "";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Consumer, "the first namespaces are asked for at once") {
  offload(0);
  CHECK(reaches([&] { return asked() == 1; }, 100ms));
  pass(1s);
  offload(1);
  CHECK(reaches([&] { return asked() == 2; }, 100ms));
}

TEST_CASE_FIXTURE(Consumer, "a grant that changes has no map looked at again, and other labels of the node have") {
  for (std::size_t number = 0; number < 20; ++number) offload(number);
  REQUIRE(reaches([&] { return asked() == 20; }));
  pass(30s);
  const auto set = [this](std::string_view field, json::value value) {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {map_key.ns, "milan"});
    node.mutable_spec()[field] = std::move(value);
    apply(kinds::virtual_nodes, node);
    pass(1s);
  };
  const auto looked = [this] {
    return adds(metrics(), "outgoing-namespacemap") + adds(metrics(), "namespaceoffloading");
  };
  const double before = looked();
  for (int cpu = 1; cpu <= 10; ++cpu)
    set("resourceQuota", json::object{{"hard", json::object{{"cpu", std::to_string(cpu)}}}});
  CHECK(looked() == before);
  set("labels", json::object{{"region", "south"}});
  CHECK(looked() > before);
}

TEST_CASE("a map of another name that somebody deletes is followed by one of ours") {
  ClusterFixture rome("rome");
  kube::Object node = kube::Object::make(kinds::virtual_nodes, {map_key.ns, "milan"});
  node.mutable_spec() = json::object{{"clusterID", "milan"}, {"createNode", false}};
  rome.apply(kinds::virtual_nodes, node);
  kube::Object map = kube::Object::make(kinds::namespace_maps, {map_key.ns, "by-hand"});
  map.set_label(api::labels::remote_cluster_id, "milan");
  map.set_label(api::labels::replication, "true");
  map.set_label(api::labels::replication_destination, "milan");
  rome.apply(kinds::namespace_maps, map);
  rome.start();
  rome.pass(5s);
  CHECK_FALSE(rome.has(kinds::namespace_maps, map_key));
  static_cast<void>(rome.server.remove(kinds::namespace_maps, map.key(), {}, "operator"));
  CHECK(rome.reaches([&] { return rome.has(kinds::namespace_maps, map_key); }));
  rome.stop();
}

TEST_CASE_FIXTURE(Consumer,
                  "a thousand namespaces cost a few dozen writes of the map, and more of them are told why not") {
  const std::size_t before = map_writes();
  for (std::size_t number = 0; number < core::max_mappings; ++number) {
    offload(number);
    if (number % 50 == 0) pass(1s);
  }
  REQUIRE(reaches([&] { return asked() == core::max_mappings; }));
  CHECK(map_writes() - before <= 40);

  const std::size_t late = core::max_mappings;
  offload(late);
  REQUIRE(reaches([&] { return !trouble(late).empty(); }));
  CHECK(trouble(late).find("the cluster is asked for 1000 namespaces already") != std::string::npos);
  CHECK(asked() == core::max_mappings);
  CHECK(trouble(0).empty());
  // When one leaves another one is admitted.
  static_cast<void>(server.remove(kinds::namespace_offloadings, {name_of(0), "offloading"}, {}, "operator"));
  CHECK(reaches([&] { return trouble(late).empty(); }));
  CHECK(reaches([&] {
    return kube::object_at(find(kinds::namespace_maps, map_key)->spec(), {"desiredMapping"}).contains(name_of(late));
  }));
}

}  // namespace liqo::testing
