// The objects of consumers in their tenant namespaces: counted from the caches, and earlier if they were admitted.
#include "webhook/tenant_holdings.hpp"

#include <doctest/doctest.h>

#include "kube/testing/allocated_bytes.hpp"
#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace {

using namespace kube::testing;
using namespace std::chrono_literals;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using liqo::webhook::TenantHoldings;

constexpr const char* rome = "liqo-tenant-rome";

struct Milan : OneCluster {
  Milan() : OneCluster({.name = "milan", .actor = "liqod"}), holdings(informers) {
    // A server without Renews has none of them.
    for (const kube::Resource& kind : {kinds::resource_slices, kinds::namespace_maps}) server.serve(kind);
    CHECK_FALSE(holdings.is_known());
    group.spawn(informers.run());
    REQUIRE(reaches([this] { return holdings.is_known(); }));
  }
  ~Milan() { stop(); }

  void make(const kube::Resource& kind, std::string_view name, std::string_view ns = rome, bool is_replica = true) {
    json::object metadata{{"name", name}, {"namespace", ns}};
    if (is_replica) metadata["labels"] = json::object{{"liqo.io/replicated", "true"}};
    REQUIRE(server.create(kind, {{"metadata", std::move(metadata)}}, "rome"));
    simulator.run_for(1s);
  }
  void remove(const kube::Resource& kind, const char* name) {
    REQUIRE(server.remove(kind, {rome, name}, {}, "rome"));
    simulator.run_for(1s);
  }
  void grant(const char* slice, json::array classes) {
    const kube::ObjectKey key{rome, slice};
    REQUIRE(server.update(
        {kinds::resource_slices, key, "status"},
        [&](json::object& next) { next["status"] = json::object{{"storageClasses", classes}}; }, "liqod"));
    simulator.run_for(1s);
  }
  std::size_t others(const char* name = "new", const kube::Resource& kind = kinds::resource_slices) {
    return holdings.others_than(kind, {rome, name});
  }

  TenantHoldings holdings;
};

}  // namespace

TEST_CASE("the replicas of each tenant namespace are counted, kind by kind, as they come and go") {
  Milan milan;
  milan.make(kinds::resource_slices, "own", rome, false);
  milan.make(kinds::resource_slices, "theirs", "liqo-tenant-turin");
  CHECK(milan.others() == 0);
  milan.make(kinds::resource_slices, "one");
  milan.make(kinds::resource_slices, "two");
  CHECK(milan.others() == 2);
  CHECK(milan.others("two") == 1);
  CHECK(milan.others("new", kinds::namespace_maps) == 0);
  CHECK(milan.others("new", kinds::renews) == 0);
  milan.remove(kinds::resource_slices, "one");
  CHECK(milan.others() == 1);
}

TEST_CASE("what was admitted counts until the caches show it, and for ten seconds at most") {
  Milan milan;
  const auto admit = [&](const char* name) { milan.holdings.admit(kinds::resource_slices, {rome, name}); };
  admit("one");
  admit("two");
  CHECK(milan.others() == 2);
  CHECK(milan.others("two") == 1);
  CHECK(milan.others("new", kinds::namespace_maps) == 0);
  SUBCASE("it is never stored") {
    milan.simulator.run_for(9s);
    CHECK(milan.others() == 2);
    milan.simulator.run_for(2s);
    CHECK(milan.others() == 0);
  }
  SUBCASE("it is stored, and counts once") {
    milan.make(kinds::resource_slices, "one");
    CHECK(milan.others() == 2);
    milan.simulator.run_for(20s);
    CHECK(milan.others() == 1);
  }
  SUBCASE("it is stored and goes again, and makes room at once") {
    milan.make(kinds::resource_slices, "one");
    milan.remove(kinds::resource_slices, "one");
    CHECK(milan.others() == 1);
  }
}

TEST_CASE("what was admitted and never stored is forgotten, also where nobody counts in its namespace again") {
  Milan milan;
  const auto admit = [&](const std::string& ns) { milan.holdings.admit(kinds::resource_slices, {ns, "one"}); };
  admit("liqo-tenant-first");
  milan.simulator.run_for(20s);
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < 2000; ++i) admit("liqo-tenant-" + std::string(40, 'x') + std::to_string(i));
  REQUIRE(allocated_bytes() > before + 200'000);
  milan.simulator.run_for(20s);
  admit("liqo-tenant-last");
  CHECK(allocated_bytes() < before + 50'000);
}

TEST_CASE("the classes on offer are those of a consumer's replicas, as they are granted now") {
  Milan milan;
  const auto offered = [&] { return milan.holdings.offered_classes(rome).storage; };
  milan.make(kinds::resource_slices, "own", rome, false);
  milan.grant("own", {json::object{{"storageClassName", "gold"}}});
  CHECK(offered().empty());
  milan.make(kinds::resource_slices, "one");
  milan.make(kinds::resource_slices, "two");
  milan.grant("one", {json::object{{"storageClassName", "fast"}}});
  milan.grant("two", {json::object{{"storageClassName", "slow"}}});
  CHECK(offered() == std::vector<std::string>{"fast", "slow"});
  milan.grant("one", {});
  CHECK(offered() == std::vector<std::string>{"slow"});
  milan.remove(kinds::resource_slices, "two");
  CHECK(offered().empty());
}
