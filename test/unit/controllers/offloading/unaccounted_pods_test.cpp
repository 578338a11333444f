// The provider ends pods whose grant is gone.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/peering/forge.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

namespace {

/// Provider milan with a ShadowPod of rome that a Quota counts, and one that none does.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    for (const kube::ObjectKey& key : {counted, uncounted}) {
      kube::Object shadow = kube::Object::make(kinds::shadow_pods, key);
      shadow.set_label(api::labels::reflection_origin, "rome");
      if (key == counted) shadow.set_label(api::labels::creator_user, "pool-1f00");
      apply(kinds::shadow_pods, shadow);
    }
    grant();
  }
  ~Provider() { stop(); }

  void grant() {
    kube::Object granted = kube::Object::make(kinds::quotas, quota);
    granted.mutable_spec()["user"] = "pool-1f00";
    apply(kinds::quotas, granted);
  }
  void withdraw() { static_cast<void>(server.remove(kinds::quotas, quota, {}, "operator")); }

  const kube::ObjectKey counted{"shop-rome", "web"}, uncounted{"shop-paris", "web"}, quota{"liqo-tenant-rome", "pool"};
};

/// Provider milan with pods of rome that take their time to end. All DELETEs of Pods by liqod are noted with their
/// grace periods.
struct SlowProvider : ClusterFixture {
  explicit SlowProvider(std::string_view policy = "") : ClusterFixture("milan") {
    kube::Object tenant_namespace = core::forge_tenant_namespace("rome");
    if (!policy.empty()) tenant_namespace.set_annotation(api::annotations::pod_policy, policy);
    apply(resources::namespaces, tenant_namespace);
    kube::Object tenant = kube::Object::make(kinds::tenants, {"liqo-tenant-rome", "rome"});
    tenant.mutable_spec() = json::object{{"clusterID", "rome"}, {"authzPolicy", "TolerateNoHandshake"}};
    apply(kinds::tenants, tenant);
    kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
    twin.set_label(api::labels::remote_cluster_id, "rome");
    apply(resources::namespaces, twin);
    kube::Object granted = kube::Object::make(kinds::quotas, quota);
    granted.mutable_spec()["user"] = "pool-1f00";
    apply(kinds::quotas, granted);
    reads = [this](kube::HttpRequest& request) {
      if (request.verb != "delete" || request.resource != "pods") return;
      const auto body = kube::parse_json(request.body);
      removals.emplace_back(request.target.substr(request.target.rfind('/') + 1),
                            body ? kube::int_at(*body, {"gracePeriodSeconds"}, -1) : -1);
    };
  }
  ~SlowProvider() { stop(); }

  void add(const std::string& name, std::int64_t grace = 86'400) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {"shop-rome", name});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::creator_user, "pool-1f00");
    shadow.mutable_spec()["pod"] =
        json::object{{"nodeName", "worker"},
                     {"terminationGracePeriodSeconds", grace},
                     {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return has(resources::pods, {"shop-rome", name}); }));
  }
  /// As the consumer does it.
  void end(const std::string& name) {
    static_cast<void>(server.remove(kinds::shadow_pods, {"shop-rome", name}, {}, "rome"));
    REQUIRE(reaches([&] { return grace(name) >= 0; }));
  }
  /// The grace period of a pod that is being deleted; -1: it is not, -2: it does not exist.
  std::int64_t grace(const std::string& name) {
    const auto pod = find(resources::pods, {"shop-rome", name});
    return pod ? kube::int_at(pod->metadata(), {"deletionGracePeriodSeconds"}, -1) : -2;
  }
  void drain() {
    change(kinds::quotas, quota, "",
           [](json::object& next) { kube::testing::set_annotation(next, api::annotations::drained, "true"); });
  }

  const kube::ObjectKey quota{"liqo-tenant-rome", "pool-1f00"};
  std::vector<std::pair<std::string, std::int64_t>> removals;
};

}  // namespace

TEST_CASE("pods whose Quota is gone end within the time of a drain, and so do those that end already") {
  SlowProvider milan;
  milan.start();
  milan.add("slow");
  milan.add("quick", 10);
  milan.add("ending");
  milan.end("ending");
  // A consumer that ends its own pod decides how long that takes.
  milan.pass(2min);
  CHECK(milan.grace("ending") == 86'400);
  static_cast<void>(milan.server.remove(kinds::quotas, milan.quota, {}, "operator"));
  milan.pass(20s);
  CHECK(milan.grace("slow") == -1);
  CHECK(milan.grace("ending") == 86'400);
  CHECK(milan.reaches([&] { return milan.grace("slow") == 600 && milan.grace("ending") == 600; }));
  CHECK(milan.reaches([&] { return milan.grace("quick") == 10; }));
  REQUIRE_FALSE(milan.removals.empty());
  for (const auto& [name, grace] : milan.removals) {
    CAPTURE(name);
    CHECK(grace == 600);
  }
}

TEST_CASE("a Pod that a ShadowPod has left behind is not kept by another one of its name") {
  SlowProvider milan;
  milan.start();
  milan.add("web", 10);
  const auto orphan = [&](const char* uid) {
    // As the garbage collector leaves it when the ShadowPod was deleted with the policy Orphan.
    milan.change(resources::pods, {"shop-rome", "web"}, "", [uid](json::object& pod) {
      json::object& metadata = kube::ensure_object(pod, "metadata");
      metadata.erase("ownerReferences");
      if (uid) kube::ensure_object(metadata, "labels")[api::labels::shadow_pod_uid] = uid;
    });
  };
  SUBCASE("it was made for an earlier one") {
    orphan("of-an-earlier-one");
    CHECK(milan.reaches([&] { return milan.grace("web") != -1; }));
  }
  SUBCASE("it is of an earlier version, which did not say for whom it was made") {
    milan.change(resources::pods, {"shop-rome", "web"}, "", [](json::object& pod) {
      kube::ensure_object(pod["metadata"].as_object(), "labels").erase(api::labels::shadow_pod_uid);
    });
    // While it has an owner, it is labelled.
    CHECK(milan.reaches(
        [&] { return milan.find(resources::pods, {"shop-rome", "web"})->has_label(api::labels::shadow_pod_uid); }));
    milan.pass(1min);
    CHECK(milan.grace("web") == -1);
  }
  SUBCASE("it is its own") {
    orphan(nullptr);
    milan.pass(1min);
    CHECK(milan.grace("web") == -1);
  }
}

TEST_CASE("pods of a drained slice end within the time that the policy of their consumer gives them") {
  SlowProvider milan(R"({"maxDrainGracePeriodSeconds": 60})");
  milan.start();
  milan.add("slow");
  milan.add("ending");
  milan.end("ending");
  milan.drain();
  CHECK(milan.reaches([&] { return milan.grace("slow") == 60 && milan.grace("ending") == 60; }));
}

TEST_CASE("without enforcement pods that end are hurried only where their consumer has no Tenant any more") {
  SlowProvider milan;
  controllers::Settings settings;
  settings.offloading.enforce_resources = false;
  milan.start(settings);
  milan.add("slow");
  milan.add("ending");
  milan.end("ending");
  static_cast<void>(milan.server.remove(kinds::quotas, milan.quota, {}, "operator"));
  milan.pass(5min);
  CHECK(milan.grace("slow") == -1);
  CHECK(milan.grace("ending") == 86'400);
  static_cast<void>(milan.server.remove(kinds::tenants, {"liqo-tenant-rome", "rome"}, {}, "operator"));
  CHECK(milan.reaches([&] { return milan.grace("ending") == 600; }));
}

TEST_CASE("pods whose Quota is gone are ended after a while, and Pods that were left behind at once") {
  Provider milan;
  kube::Object left = kube::Object::make(resources::pods, {"shop-rome", "left"});
  left.set_label(api::labels::managed_by, api::labels::managed_by_shadow_pod);
  left.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "busybox"}}};
  milan.apply(resources::pods, left);
  milan.start();
  CHECK(milan.reaches([&] {
    const auto pod = milan.find(resources::pods, left.key());
    return !pod || pod->is_deleting();
  }));
  milan.pass(5min);
  CHECK(milan.has(kinds::shadow_pods, milan.counted));
  milan.withdraw();
  milan.pass(20s);
  CHECK(milan.has(kinds::shadow_pods, milan.counted));
  milan.grant();
  milan.pass(5min);
  CHECK(milan.has(kinds::shadow_pods, milan.counted));
  milan.withdraw();
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, milan.counted); }));
  CHECK(milan.reaches([&] { return !milan.events("GrantWithdrawn").empty(); }));
  CHECK(milan.has(kinds::shadow_pods, milan.uncounted));
}

TEST_CASE("a Quota that comes back keeps the pods that were not ended before, even if its watch is late") {
  Provider milan;
  milan.start();
  milan.pass(1min);
  milan.withdraw();
  milan.pass(5s);
  kube::Object later = kube::Object::make(kinds::shadow_pods, {"shop-rome", "later"});
  later.set_label(api::labels::reflection_origin, "rome");
  later.set_label(api::labels::creator_user, "pool-1f00");
  milan.apply(kinds::shadow_pods, later);
  REQUIRE(milan.reaches([&] { return !milan.has(kinds::shadow_pods, milan.counted); }));
  // A list shows the Quota, the watch does not for a long time.
  milan.link.set_faults({.stalled = 1, .stalled_by = 24h});
  milan.grant();
  milan.pass(20s);
  CHECK(milan.has(kinds::shadow_pods, later.key()));
}

TEST_CASE("pods of a drained Quota are ended at once, those of others stay") {
  Provider milan;
  milan.start();
  milan.pass(5min);
  CHECK(milan.has(kinds::shadow_pods, milan.counted));
  milan.change(kinds::quotas, milan.quota, "",
               [](json::object& next) { kube::testing::set_annotation(next, api::annotations::drained, "true"); });
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, milan.counted); }));
  CHECK(milan.reaches([&] { return !milan.events("SliceDrained").empty(); }));
  CHECK(milan.has(kinds::shadow_pods, milan.uncounted));
}

}  // namespace liqo::testing
