// It is reported that NetworkPolicies of an offloaded namespace do not hold in other clusters.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;
constexpr std::string_view reason = "NetworkPoliciesAtHome";

/// Rome, with virtual nodes of milan.
struct Home : ClusterFixture {
  Home() : ClusterFixture("rome") {
    server.serve(kinds::network_policies);
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "shop"}));
    add_provider("milan");
    reads = [this](kube::HttpRequest& request) {
      if (request.resource == "networkpolicies") ++lists;
    };
    refuses = [this](const kube::HttpRequest& request) -> std::string {
      return is_refused && request.resource == "networkpolicies" ? "no right" : "";
    };
    start();
  }
  ~Home() { stop(); }

  void add_provider(const std::string& provider) {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {"liqo-tenant-" + provider, provider});
    node.mutable_spec() = json::object{{"clusterID", provider}, {"createNode", false}};
    apply(kinds::virtual_nodes, node);
  }
  void offload(std::string_view strategy = "LocalAndRemote") {
    kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {"shop", "offloading"});
    offloading.mutable_spec()["podOffloadingStrategy"] = strategy;
    apply(kinds::namespace_offloadings, offloading);
  }
  void add_policy(std::string_view name, std::string_view ns = "shop") {
    kube::Object policy = kube::Object::make(kinds::network_policies, {std::string(ns), std::string(name)});
    policy.mutable_spec()["podSelector"] = json::object();
    apply(kinds::network_policies, policy);
  }

  int lists = 0;
  bool is_refused = false;
};

}  // namespace

TEST_CASE("it is reported once for each provider, whatever comes later") {
  Home rome;
  rome.add_policy("default-deny");
  rome.add_policy("other", "elsewhere");
  rome.offload();
  REQUIRE(rome.reaches([&] { return rome.events(reason).size() == 1; }, 30s));
  CHECK(rome.events(reason).front() ==
        "a NetworkPolicy of this namespace (default-deny) does not hold in cluster milan: keep pods that need it away "
        "from milan, or ask its administrator for policies in namespace shop-rome there");
  const int before = rome.lists;
  rome.add_policy("second");
  rome.pass(1h);
  rome.stop();
  rome.start();
  rome.pass(1h);
  CHECK(rome.events(reason).size() == 1);
  CHECK(rome.lists == before);
  rome.add_provider("turin");
  CHECK(rome.reaches([&] { return rome.events(reason).size() == 2; }, 30s));
}

TEST_CASE("a policy that comes later is reported, too") {
  Home rome;
  rome.offload();
  rome.pass(10min);
  CHECK(rome.events(reason).empty());
  // One list for all namespaces, every two minutes or so.
  CHECK(rome.lists <= 10);
  rome.add_policy("late");
  CHECK(rome.reaches([&] { return rome.events(reason).size() == 1; }, 3min));
}

TEST_CASE("nothing is asked or reported while no pod may go elsewhere") {
  Home rome;
  rome.add_policy("default-deny");
  rome.pass(10min);
  rome.offload("Local");
  rome.pass(10min);
  CHECK(rome.lists == 0);
  CHECK(rome.events(reason).empty());
  rome.offload();
  CHECK(rome.reaches([&] { return rome.events(reason).size() == 1; }, 30s));
}

TEST_CASE("without the right the question comes once an hour") {
  Home rome;
  rome.is_refused = true;
  rome.add_policy("default-deny");
  rome.offload();
  rome.pass(50min);
  CHECK(rome.lists == 1);
  rome.is_refused = false;
  CHECK(rome.reaches([&] { return rome.events(reason).size() == 1; }, 20min));
}

}  // namespace liqo::testing
