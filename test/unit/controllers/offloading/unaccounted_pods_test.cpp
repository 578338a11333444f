// What a provider does with pods whose grant has gone.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
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

}  // namespace

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

TEST_CASE("pods of a drained Quota are ended at once, those of others stay") {
  Provider milan;
  milan.start();
  milan.pass(5min);
  CHECK(milan.has(kinds::shadow_pods, milan.counted));
  milan.change(kinds::quotas, milan.quota, "", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")[api::annotations::drained] = "true";
  });
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, milan.counted); }));
  CHECK(milan.reaches([&] { return !milan.events("SliceDrained").empty(); }));
  CHECK(milan.has(kinds::shadow_pods, milan.uncounted));
}

}  // namespace liqo::testing
