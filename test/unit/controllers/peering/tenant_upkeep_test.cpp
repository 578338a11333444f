// A provider whose tenant is drained while its pods end slowly, or whose tenant has been silent for long.
#include <doctest/doctest.h>

#include <algorithm>

#include "../cluster_fixture.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/heartbeat.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

/// Provider milan with a Tenant for rome, whose policy needs no handshake.
struct Provider : ClusterFixture {
  explicit Provider(controllers::Settings settings = {}, std::string name = "rome")
      : ClusterFixture("milan"), tenant_key{"liqo-tenant-rome", std::move(name)} {
    apply(resources::namespaces, core::forge_tenant_namespace("rome"));
    kube::Object tenant = kube::Object::make(kinds::tenants, tenant_key);
    tenant.mutable_spec() = json::object{{"clusterID", "rome"}, {"authzPolicy", "TolerateNoHandshake"}};
    apply(kinds::tenants, tenant);
    start(std::move(settings));
  }
  ~Provider() { stop(); }

  std::string condition() {
    return std::string(kube::string_at(find(kinds::tenants, tenant_key)->spec(), {"tenantCondition"}));
  }
  void set_policy(std::string_view policy) {
    change(resources::namespaces, {"", "liqo-tenant-rome"}, "",
           [&](json::object& next) { kube::testing::set_annotation(next, "liqo.io/pod-policy", policy); });
    pass(2s);
  }
  void set_condition(std::string_view condition) {
    change(kinds::tenants, tenant_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = condition; });
  }
  void add_pod(const std::string& ns, const std::string& name, std::int64_t grace) {
    kube::Object pod = kube::Object::make(resources::pods, {ns, name});
    pod.set_label(labels::managed_by, labels::managed_by_shadow_pod);
    pod.mutable_spec() = json::object{{"nodeName", "worker"},
                                      {"terminationGracePeriodSeconds", grace},
                                      {"containers", json::array{json::object{{"name", "a"}, {"image", "i"}}}}};
    static_cast<void>(server.create(resources::pods, pod.tree(), "operator"));
  }
  std::int64_t grace(const std::string& ns, const std::string& name) {
    const auto pod = find(resources::pods, {ns, name});
    return pod ? kube::int_at(pod->metadata(), {"deletionGracePeriodSeconds"}, -1) : -2;
  }
  void beat(std::string_view when) {
    change(resources::leases, lease_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["renewTime"] = when; });
  }
  std::string now() { return kube::format_micro_time(simulator.clock().wall()); }

  const kube::ObjectKey tenant_key;
  const kube::ObjectKey lease_key{"liqo-tenant-rome", "liqo-heartbeat"};
};

/// One whose consumer has more ShadowPods than two batches of deletions, each held by a finalizer.
struct BigTenant : Provider {
  BigTenant() : Provider(without_limits()) {
    link.on_send([this](const kube::HttpRequest& request) {
      deletions += request.verb == "delete" && request.resource == "shadowpods";
    });
    kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
    twin.set_label(labels::remote_cluster_id, "rome");
    apply(resources::namespaces, twin);
    for (int i = 0; i < 450; ++i) add("web-" + std::to_string(i));
    pass(10s);
    set_condition("Drained");
  }
  void add(const std::string& name) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {"shop-rome", name});
    shadow.mutable_metadata()["finalizers"] = json::array{"example.com/slow"};
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
  }
  static controllers::Settings without_limits() {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    return settings;
  }

  std::size_t deletions = 0;
};

controllers::Settings silent_after(kube::Duration limit) {
  controllers::Settings settings;
  settings.peering.max_tenant_silence = limit;
  return settings;
}

}  // namespace

TEST_CASE("pods of a drained tenant end in the time that its policy allows, and nobody else's") {
  Provider milan;
  for (const auto& [ns, cluster] : {std::pair{"shop-rome", "rome"}, std::pair{"shop-paris", "paris"}}) {
    kube::Object twin = kube::Object::make(resources::namespaces, {"", ns});
    twin.set_label(labels::remote_cluster_id, cluster);
    milan.apply(resources::namespaces, twin);
    milan.add_pod(ns, "slow", 86'400);
    milan.add_pod(ns, "quick", 30);
  }
  const auto remove = [&](const char* ns, const char* name) {
    static_cast<void>(milan.server.remove(resources::pods, {ns, name}, {}, "garbage-collector"));
  };
  remove("shop-rome", "slow");
  milan.pass(5s);
  CHECK(milan.grace("shop-rome", "slow") == 86'400);
  milan.set_condition("Drained");
  CHECK(milan.reaches([&] { return milan.grace("shop-rome", "slow") == 600; }));
  // Pods that end later are hurried, too; those that are quick enough keep their own grace period.
  milan.add_pod("shop-rome", "slower", 80'000);
  remove("shop-rome", "slower");
  remove("shop-rome", "quick");
  remove("shop-paris", "slow");
  CHECK(milan.reaches([&] { return milan.grace("shop-rome", "slower") == 600; }));
  CHECK(milan.grace("shop-rome", "quick") == 30);
  CHECK(milan.grace("shop-paris", "slow") == 86'400);
}

TEST_CASE("all pods of a big drained tenant are ended, each once, also while those that were ended stay") {
  BigTenant milan;
  REQUIRE(milan.reaches([&] { return milan.deletions == 450; }));
  milan.pass(1min);
  CHECK(milan.deletions == 450);
  for (const auto& shadow : milan.server.list(kinds::shadow_pods)) CHECK(kube::Object(*shadow).is_deleting());
  // One that comes later is behind those that were looked at last.
  milan.add("a");
  CHECK(milan.reaches([&] { return milan.deletions == 451; }));
}

TEST_CASE("a pod that is stored while a big tenant is drained, before those that were ended last, is ended too") {
  BigTenant milan;
  // In the second of three batches.
  REQUIRE(milan.reaches([&] { return milan.deletions >= 210; }));
  milan.add("a");
  milan.pass(1min);
  CHECK(milan.find(kinds::shadow_pods, {"shop-rome", "a"})->is_deleting());
}

TEST_CASE("a tenant that is activated while its pods are being ended keeps those that are left") {
  std::size_t ended = 0;
  controllers::Settings settings;
  settings.offloading.enforce_resources = false;
  Provider milan(settings);
  kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
  twin.set_label(labels::remote_cluster_id, "rome");
  milan.apply(resources::namespaces, twin);
  for (int i = 0; i < 50; ++i) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {"shop-rome", "web-" + std::to_string(i)});
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    milan.apply(kinds::shadow_pods, shadow);
  }
  milan.pass(10s);
  milan.link.on_send([&](const kube::HttpRequest& request) {
    if (request.verb == "delete" && request.resource == "shadowpods" && ++ended == 1) milan.set_condition("Active");
  });
  milan.set_condition("Drained");
  REQUIRE(milan.reaches([&] { return ended > 0; }));
  milan.pass(1min);
  CHECK(ended < 10);
}

TEST_CASE("a policy that cannot be read is told on the Tenant and its namespace, for each reason") {
  Provider milan;
  milan.pass(2s);
  milan.set_policy(R"({"maxResources":{"cpu":"3"}})");
  CHECK(milan.events("PolicyUnreadable").empty());
  milan.set_policy(R"({"maxResorces":{"cpu":"3"}})");
  const std::string told =
      "the policy of cluster rome (annotation liqo.io/pod-policy of namespace liqo-tenant-rome) cannot be read "
      "(\"maxResorces\" is not a key of it; did you mean maxResources?), so nothing new of rome is admitted: liqoctl "
      "set tenant rome --unset maxResorces mends it";
  CHECK(milan.events("PolicyUnreadable") == std::vector<std::string>{told, told});
  // Other changes of the Tenant and the namespace cause no new report.
  milan.set_condition("Cordoned");
  milan.set_policy(R"({"maxResorces":{"cpu":"4"}})");
  CHECK(milan.times_reported("PolicyUnreadable") == 2);
  milan.set_policy("{");
  REQUIRE(milan.events("PolicyUnreadable").size() == 4);
  CHECK(std::ranges::any_of(milan.events("PolicyUnreadable"), [](const std::string& words) {
    return words.contains("liqoctl set tenant rome --replace writes it anew");
  }));
  milan.set_policy("");
  milan.set_policy("{");
  CHECK(milan.times_reported("PolicyUnreadable") == 4);
}

TEST_CASE("a policy with a name that forbids nothing is told of, with the type that was meant") {
  Provider milan;
  milan.pass(2s);
  milan.set_policy(R"({"refusedServiceTypes":["LoadBalancer"]})");
  CHECK(milan.events("PolicyForbidsNothing").empty());
  milan.set_policy(R"({"refusedServiceTypes":["Loadbalancer"]})");
  const std::string told =
      "the policy of cluster rome (annotation liqo.io/pod-policy of namespace liqo-tenant-rome) forbids nothing by a "
      "name under refusedServiceTypes: \"Loadbalancer\" is no type of Service that can be refused; did you mean "
      "LoadBalancer? liqoctl set tenant rome --forbid refusedServiceTypes=TYPE refuses a type";
  CHECK(milan.events("PolicyForbidsNothing") == std::vector<std::string>{told, told});
  CHECK(milan.events("PolicyUnreadable").empty());
}

TEST_CASE("a policy that stays unreadable is told again before its Event is forgotten") {
  Provider milan;
  milan.pass(2s);
  milan.set_policy("{");
  CHECK(milan.times_reported("PolicyUnreadable") == 2);
  milan.pass(25min);
  CHECK(milan.times_reported("PolicyUnreadable") == 2);
  milan.pass(10min);
  CHECK(milan.times_reported("PolicyUnreadable") == 4);
  milan.set_policy("");
  milan.pass(1h);
  CHECK(milan.times_reported("PolicyUnreadable") == 4);
}

TEST_CASE("what is told of a policy names the consumer's cluster, whatever its Tenant is called") {
  Provider milan({}, "x");
  milan.pass(2s);
  milan.set_policy(R"({"hostPorts":1})");
  const auto told = milan.events("PolicyUnreadable");
  REQUIRE(told.size() == 2);
  for (const std::string& words : told) CHECK(words.contains("liqoctl set tenant rome "));
}

TEST_CASE("where it is asked for, a tenant that falls silent is cordoned, and may be let go on") {
  Provider milan(silent_after(2h));
  REQUIRE(milan.reaches([&] { return milan.has(resources::leases, milan.lease_key); }));
  milan.pass(6h);
  CHECK(milan.condition() != "Cordoned");
  milan.beat(milan.now());
  milan.pass(115min);
  CHECK(milan.condition() != "Cordoned");
  milan.beat(milan.now());
  milan.pass(115min);
  CHECK(milan.condition() != "Cordoned");
  milan.pass(70min);
  CHECK(milan.condition() == "Cordoned");
  REQUIRE(milan.events("TenantSilent").size() == 1);
  CHECK(milan.events("TenantSilent").front().starts_with("nobody has heard of cluster rome since "));
  milan.set_condition("Active");
  milan.pass(6h);
  CHECK(milan.condition() == "Active");
  // It came back, and fell silent again, whatever time its clock showed.
  for (const std::string& time : {milan.now(), std::string("2300-01-01T00:00:00.000000Z")}) {
    milan.set_condition("Active");
    milan.beat(time);
    milan.pass(90min);
    CHECK(milan.condition() == "Active");
    milan.pass(150min);
    CHECK(milan.condition() == "Cordoned");
  }
}

TEST_CASE("a consumer whose last heartbeat was far ahead is silent, however often liqod starts anew") {
  Provider milan(silent_after(2h));
  REQUIRE(milan.reaches([&] { return milan.has(resources::leases, milan.lease_key); }));
  milan.beat("2199-01-01T00:00:00.000000Z");
  for (int i = 0; i < 5; ++i) {
    milan.pass(30min);
    milan.stop();
    milan.start(silent_after(2h));
  }
  milan.pass(30min);
  CHECK(milan.condition() == "Cordoned");
}

TEST_CASE("a consumer that writes another time far ahead whenever somebody looks causes a write in ten minutes") {
  Provider milan(silent_after(2h));
  REQUIRE(milan.reaches([&] { return milan.has(resources::leases, milan.lease_key); }));
  milan.pass(15min);
  const std::size_t before = milan.writes();
  for (int i = 0; i < 60; ++i) {
    milan.beat("2199-01-01T00:00:" + std::to_string(10 + i % 50) + ".000000Z");
    milan.change(kinds::tenants, milan.tenant_key, "", [&](json::object& next) {
      kube::testing::set_annotation(next, "example.com/edit", std::to_string(i));
    });
    milan.pass(30s);
  }
  CHECK(milan.writes() - before <= 5);
}

TEST_CASE("where it is not asked for, nothing is made for it") {
  Provider milan;
  milan.pass(1h);
  CHECK_FALSE(milan.has(resources::leases, milan.lease_key));
}

}  // namespace liqo::testing
