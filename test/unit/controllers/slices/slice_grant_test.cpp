// The amounts of a slice that a provider grants, and the Quota that bounds it, over a fake API server.
#include <doctest/doctest.h>

#include "core/common/late_requests.hpp"
#include "core/quota/ledger.hpp"
#include "kube/testing/tree.hpp"
#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// Provider milan with a policy of 10 cores for rome, whose slice pool has 8 that two pods hold.
struct BoundedProvider : SliceProvider {
  BoundedProvider() : SliceProvider("memory=8Gi") {
    set_pod_policy(R"({"maxResources": {"cpu": "10"}})");
    add_slice(R"({"cpu": "8"})");
    REQUIRE(reaches([&] { return granted() == usual_grant; }));
    add_pod("web", "5");
    add_pod("db", "3");
  }
  /// The condition of a slice.
  std::string message(std::string_view name) {
    const auto slice = find(kinds::resource_slices, {ns, std::string(name)});
    const auto found = slice ? api::ResourceSlice(*slice).condition("Resources") : std::nullopt;
    return found ? std::string(found->message) : "";
  }
  bool denies(std::string_view name) {
    return reaches([&] { return condition("Resources", name) == denied; });
  }
  /// The pod ends, by its consumer.
  void end(const std::string& name) {
    static_cast<void>(server.remove(kinds::shadow_pods, {"shop-rome", name}, {}, "rome"));
    REQUIRE(reaches([&] {
      const auto pod = find(resources::pods, {"shop-rome", name});
      return !pod || pod->is_deleting();
    }));
  }
  void is_gone(const std::string& name) {
    static_cast<void>(server.remove(resources::pods, {"shop-rome", name}, {.grace_period_seconds = 0}, "kubelet"));
  }
};

constexpr const char* ten = R"(cpu="10",memory="8Gi")";
constexpr const char* five = R"(cpu="5",memory="8Gi")";

/// Provider milan with the same policy, whose write of a Quota can be made to fail.
struct FailingProvider : SliceProvider {
  FailingProvider() : SliceProvider("memory=8Gi") { set_pod_policy(R"({"maxResources": {"cpu": "10"}})"); }
  bool denies(std::string_view name) {
    return reaches([&] { return condition("Resources", name) == denied; });
  }
  /// Adds slice pool. Its Quota is not made, which its writer cannot know: from then on the server answers nothing.
  void add_in_doubt(std::string_view request) {
    bool is_sent = false;
    link.on_send([&](const kube::HttpRequest& sent) {
      if (sent.method != "POST" || sent.resource != "quotas") return;
      is_sent = true;
      link.set_faults({.unavailable = 1});
    });
    add_slice(request);
    REQUIRE(reaches([&] { return is_sent; }));
    pass(10ms);
    link.on_send({});
  }
  /// The server answers again.
  void heal() {
    pass(100ms);
    link.set_faults({});
    REQUIRE_FALSE(has(kinds::quotas, quota_key));
  }
  /// The grant of slice pool counts, and slice batch gets nothing of it, until its late write is impossible.
  void waits_for_the_doubt() {
    add_slice(R"({"cpu": "5"})", "default", true, "batch");
    REQUIRE(denies("batch"));
    pass(1min);
    CHECK(granted("batch").empty());
    CHECK(reaches([&] { return granted("batch") == five; }, 20s));
    CHECK(reaches([&] { return condition("Resources", "batch") == accepted; }));
  }
};

/// Provider milan with the same policy, whose liqod is one of several replicas with an election.
struct ElectedProvider : FailingProvider {
  ElectedProvider() {
    stop();
    election = {.lease = lease, .identity = "one", .late_requests = core::late_after};
  }
  std::string holder() {
    return std::string(kube::string_at(find(resources::leases, lease)->spec(), {"holderIdentity"}));
  }
  const kube::ObjectKey lease{"liqo", "liqod"};
};

}  // namespace

TEST_CASE("after a leader that did not end in order nothing is added to a bound while what it sent may come") {
  ElectedProvider milan;
  kube::Object lease = kube::Object::make(resources::leases, milan.lease);
  lease.mutable_spec() = parsed(R"({"holderIdentity": "zero", "leaseDurationSeconds": 15})");
  milan.apply(resources::leases, lease);
  milan.start(milan.settings);
  milan.add_slice(R"({"cpu": "5"})", "default", true, "batch");
  REQUIRE(milan.reaches([&] { return !milan.events("GrantWaits").empty(); }));
  CHECK(milan.events("GrantWaits").front().contains("what liqod's last leader has granted may still be on its way"));
  milan.pass(1min);
  CHECK(milan.granted("batch").empty());
  CHECK(milan.condition("Resources", "batch") == "");
  CHECK(milan.reaches([&] { return milan.granted("batch") == five; }, 20s));
}

TEST_CASE("where the lease was free a slice is granted at once") {
  ElectedProvider milan;
  milan.start(milan.settings);
  milan.add_slice(R"({"cpu": "5"})", "default", true, "batch");
  CHECK(milan.reaches([&] { return milan.granted("batch") == five; }, 5s));
  CHECK(milan.events("GrantWaits").empty());
  milan.stop();
  CHECK(milan.holder().empty());
}

TEST_CASE("a leader that ends while the write of a Quota is in doubt leaves the doubt to the next one") {
  ElectedProvider milan;
  milan.start(milan.settings);
  SUBCASE("it has failed") {
    milan.add_in_doubt(R"({"cpu": "10"})");
    milan.heal();
  }
  SUBCASE("it is cut off") {
    milan.link.on_send([&](const kube::HttpRequest& sent) {
      if (sent.method == "POST" && sent.resource == "quotas")
        milan.link.set_faults({.latency_low = 20s, .latency_high = 20s});
    });
    milan.add_slice(R"({"cpu": "10"})");
    milan.pass(5s);
    milan.link.on_send({});
    milan.link.set_faults({});
  }
  milan.stop();
  CHECK(milan.holder() == "one");
}

TEST_CASE("a leader that is stopped while a Quota is being written has that end, and leaves no doubt") {
  ElectedProvider milan;
  milan.start(milan.settings);
  bool is_sent = false;
  milan.link.on_send([&](const kube::HttpRequest& sent) {
    if (sent.method != "POST" || sent.resource != "quotas") return;
    is_sent = true;
    milan.link.set_faults({.latency_low = 5s, .latency_high = 5s});
  });
  milan.add_slice(R"({"cpu": "10"})");
  REQUIRE(milan.reaches([&] { return is_sent; }));
  milan.pass(10ms);
  milan.link.on_send({});
  milan.link.set_faults({});
  milan.stop();
  CHECK(milan.has(kinds::quotas, milan.quota_key));
  CHECK(milan.holder().empty());
}

TEST_CASE("what pods of a lowered slice hold is not granted again, until they have ended") {
  BoundedProvider milan;
  milan.ask(R"({"cpu": "0"})");
  REQUIRE(milan.settles_as(R"(cpu="0",memory="8Gi")"));
  milan.add_slice(R"({"cpu": "10"})", "default", true, "batch");
  REQUIRE(milan.denies("batch"));
  CHECK(
      milan.message("batch") ==
      "the provider grants all slices of this cluster together no more than 10 of cpu, the others have 8 (pool 8 by "
      "its pods, granted 0) and this one would have 10: ask for less, wait for these pods to end, or ask its operator "
      "for more (maxResources in the policy)");
  milan.pass(5min);
  CHECK(milan.granted("batch").empty());
  CHECK(milan.has(resources::pods, {"shop-rome", "web"}));
  // A pod that ends counts until it is gone.
  milan.end("web");
  milan.end("db");
  milan.pass(5s);
  CHECK(milan.granted("batch").empty());
  milan.is_gone("db");
  milan.pass(5s);
  CHECK(milan.granted("batch").empty());
  milan.is_gone("web");
  CHECK(milan.reaches([&] { return milan.granted("batch") == ten; }, 2s));
  CHECK(milan.reaches([&] { return milan.condition("Resources", "batch") == accepted; }));
}

TEST_CASE("what pods of a withdrawn slice hold is not granted again, until they have ended") {
  BoundedProvider milan;
  static_cast<void>(milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "rome"));
  REQUIRE(milan.reaches([&] { return !milan.has(kinds::quotas, milan.quota_key); }));
  milan.add_slice(R"({"cpu": "3"})", "default", true, "batch");
  REQUIRE(milan.denies("batch"));
  // Once the records show that no replica admits by its Quota any more.
  CHECK(milan.reaches([&] {
    return milan.message("batch").contains("the others have 8 (" + milan.quota_key.name +
                                           " 8 by its pods, granted nothing any more)");
  }));
  // They are ended, because no Quota counts them.
  REQUIRE(milan.reaches([&] { return milan.find(resources::pods, {"shop-rome", "web"})->is_deleting(); }));
  CHECK(milan.granted("batch").empty());
  milan.is_gone("web");
  milan.is_gone("db");
  CHECK(milan.reaches([&] { return milan.granted("batch") == R"(cpu="3",memory="8Gi")"; }, 2s));
}

TEST_CASE("a slice of the same name gets what its own pods hold, and leaves the others what is left") {
  BoundedProvider milan;
  static_cast<void>(milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "rome"));
  REQUIRE(milan.reaches([&] { return !milan.has(kinds::quotas, milan.quota_key); }));
  milan.add_slice(R"({"cpu": "10"})");
  CHECK(milan.reaches([&] { return milan.granted() == ten; }));
  milan.pass(2min);
  CHECK(milan.has(kinds::shadow_pods, {"shop-rome", "web"}));
}

TEST_CASE("a slice takes less however much the others hold, and room that another slice leaves is seen at once") {
  BoundedProvider milan;
  milan.add_slice(R"({"cpu": "2"})", "default", true, "batch");
  REQUIRE(milan.reaches([&] { return milan.granted("batch") == R"(cpu="2",memory="8Gi")"; }));
  milan.ask(R"({"cpu": "4"})", "batch");
  REQUIRE(milan.denies("batch"));
  CHECK(milan.granted("batch") == R"(cpu="2",memory="8Gi")");
  milan.set_pod_policy(R"({"maxResources": {"cpu": "5"}})");
  milan.ask(R"({"cpu": "1"})", "batch");
  CHECK(milan.reaches([&] { return milan.granted("batch") == R"(cpu="1",memory="8Gi")"; }));
  milan.set_pod_policy(R"({"maxResources": {"cpu": "10"}})");
  milan.ask(R"({"cpu": "6"})", "batch");
  REQUIRE(milan.denies("batch"));
  // No pods change, only the grant of the other one.
  milan.end("web");
  milan.is_gone("web");
  milan.pass(5s);
  milan.ask(R"({"cpu": "3"})");
  CHECK(milan.reaches([&] { return milan.granted("batch") == R"(cpu="6",memory="8Gi")"; }, 3s));
}

TEST_CASE("pods that come and go do not have a refusal written again and again") {
  BoundedProvider milan;
  milan.ask(R"({"cpu": "0"})");
  REQUIRE(milan.settles_as(R"(cpu="0",memory="8Gi")"));
  milan.add_slice(R"({"cpu": "10"})", "default", true, "batch");
  REQUIRE(milan.denies("batch"));
  const auto version = [&] { return milan.find(kinds::resource_slices, {milan.ns, "batch"})->version_number(); };
  milan.pass(10s);
  const auto before = version();
  milan.end("db");
  milan.is_gone("db");
  milan.pass(10s);
  CHECK(version() == before);
  // The figures follow.
  CHECK(milan.reaches([&] { return milan.message("batch").find("pool 5 by its pods") != std::string::npos; }));
}

TEST_CASE("a grant whose write is in doubt and that is denied then counts until the doubt is over") {
  FailingProvider milan;
  milan.add_in_doubt(R"({"cpu": "10"})");
  milan.ask(R"({"cpu": "20"})");
  milan.heal();
  REQUIRE(milan.denies("pool"));
  milan.waits_for_the_doubt();
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
}

TEST_CASE("a slice that is deleted while the write of its Quota is in doubt counts until the doubt is over") {
  FailingProvider milan;
  milan.add_in_doubt(R"({"cpu": "10"})");
  static_cast<void>(milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "rome"));
  milan.heal();
  milan.waits_for_the_doubt();
}

TEST_CASE("a slice that is taken from its consumer's while the write of its Quota is in doubt counts likewise") {
  FailingProvider milan;
  milan.add_in_doubt(R"({"cpu": "10"})");
  milan.change(kinds::resource_slices, milan.slice_key, "",
               [](json::object& next) { kube::ensure_object(next, "metadata")["labels"] = json::object{}; });
  milan.heal();
  milan.waits_for_the_doubt();
}

TEST_CASE("a grant whose write is refused does not count once it is denied") {
  FailingProvider milan;
  int refused = 0;
  milan.refuses = [&](const kube::HttpRequest& sent) {
    if (sent.method != "POST" || sent.resource != "quotas") return "";
    ++refused;
    return "no Quotas today";
  };
  milan.add_slice(R"({"cpu": "10"})");
  REQUIRE(milan.reaches([&] { return refused > 0; }));
  milan.pass(10ms);
  milan.ask(R"({"cpu": "20"})");
  REQUIRE(milan.denies("pool"));
  milan.refuses = {};
  milan.add_slice(R"({"cpu": "5"})", "default", true, "batch");
  CHECK(milan.reaches([&] { return milan.granted("batch") == five; }, 5s));
}

TEST_CASE("a slice that waits because a record of its consumer cannot be read says so, and not all the time") {
  BoundedProvider milan;
  kube::Object record = core::forge_ledger("liqo", milan.quota_key, {});
  record.tree()["data"] = json::object{{core::ledger_key, "{broken"}};
  milan.apply(resources::config_maps, record);
  milan.add_slice(R"({"cpu": "2"})", "default", true, "batch");
  milan.pass(3s);
  CHECK(milan.events("GrantWaits").empty());
  REQUIRE(milan.reaches([&] { return !milan.events("GrantWaits").empty(); }, 30s));
  const std::string said = milan.events("GrantWaits").front();
  CHECK(
      said.starts_with("the slice is granted nothing more until it is known what the other slices of cluster rome "
                       "hold: settling quota " +
                       milan.quota_key.text()));
  CHECK(said.contains(std::string(record.name())));
  // Nothing is decided, so the status says nothing.
  CHECK(milan.condition("Resources", "batch") == "");
  CHECK(milan.granted("batch").empty());
  milan.pass(12min);
  CHECK(milan.times_reported("GrantWaits") >= 2);
  CHECK(milan.times_reported("GrantWaits") <= 3);
  static_cast<void>(milan.server.remove(resources::config_maps, record.key(), {}, "operator"));
  CHECK(milan.reaches([&] { return milan.granted("batch") == R"(cpu="2",memory="8Gi")"; }, 2min));
}

TEST_CASE("what the others hold is read once a second at most for a consumer that edits its slice all the time") {
  BoundedProvider milan;
  milan.pass(2s);
  int lists = 0;
  milan.link.on_send([&](const kube::HttpRequest& sent) {
    if (sent.verb == "list" && sent.resource == "quotas") ++lists;
  });
  for (int i = 0; i < 50; ++i) {
    milan.ask(i % 2 == 0 ? R"({"cpu": "9"})" : R"({"cpu": "8"})");
    milan.pass(200ms);
  }
  milan.link.on_send({});
  CHECK(lists > 0);
  CHECK(lists <= 12);
  milan.ask(R"({"cpu": "10"})");
  CHECK(milan.reaches([&] { return milan.granted() == ten; }, 2s));
}

TEST_CASE("two shares that hold what they have keep it when their bound is lowered") {
  SliceProvider milan;
  milan.set_pod_policy(R"({"maxResources": {"cpu": "10"}})");
  kube::Object node = kube::Object::make(resources::nodes, {"", "worker"});
  node.mutable_status() =
      parsed(R"({"allocatable": {"cpu": "100"}, "conditions": [{"type": "Ready", "status": "True"}]})");
  milan.apply(resources::nodes, node);
  for (const char* name : {"pool", "batch"}) milan.add_slice(R"({"cpu": "5"})", "share", true, name);
  const auto have_five = [&] { return milan.granted() == R"(cpu="5")" && milan.granted("batch") == R"(cpu="5")"; };
  REQUIRE(milan.reaches(have_five));
  milan.add_pod("web", "5");
  milan.add_pod("db", "5", "batch");
  milan.set_pod_policy(R"({"maxResources": {"cpu": "5"}})");
  milan.pass(1min);
  CHECK(have_five());
  // A slice that asks for less gets less, and the other one gets nothing of it.
  milan.ask(R"({"cpu": "2"})");
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="2")"; }));
  milan.pass(1min);
  CHECK(milan.granted("batch") == R"(cpu="5")");
}

TEST_CASE("a slice gets a Quota, an answer and a certificate, and then costs nothing") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  CHECK(milan.reaches([&] { return milan.condition() == accepted; }));
  CHECK(milan.reaches(
      [&] { return milan.condition("Authentication") == "Accepted ResourceSliceAuthenticationAccepted"; }));
  const auto slice = milan.find(kinds::resource_slices, milan.slice_key);
  CHECK(kube::string_at(slice->status(), {"authParams", "apiServer"}) == "https://milan:6443");
  const auto quota = milan.find(kinds::quotas, milan.quota_key);
  CHECK(api::Quota(*quota).user() == milan.quota_key.name);
  CHECK(api::Quota(*quota).enforcement() == "None");
  CHECK_FALSE(api::Quota(*quota).is_cordoned());
  REQUIRE(quota->controller());
  CHECK(quota->controller()->uid == slice->uid());
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(1h);
  CHECK(milan.writes() == before);

  // Deleting the slice leaves nothing.
  static_cast<void>(milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "rome"));
  CHECK(milan.reaches([&] { return !milan.has(kinds::quotas, milan.quota_key); }));
}

TEST_CASE("edits are negotiated anew, new defaults are not, and removed keys go") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8", "nvidia.com/gpu": "1"})");
  REQUIRE(milan.settles_as(R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")"));
  milan.set_policy(R"({"default-node-resources": "cpu=1,memory=1Gi"})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")");
  milan.ask(R"({"cpu": "8000m", "nvidia.com/gpu": 1})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="8",memory="8Gi",nvidia.com/gpu="1")");
  milan.ask("{}");
  CHECK(milan.settles_as(R"(cpu="1",memory="1Gi")"));
}

TEST_CASE("a request that is denied leaves what was granted before, on both sides") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  milan.ask(R"({"cpu": "-1"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied InvalidRequest"; }));
  CHECK(milan.reaches([&] { return !milan.events("InvalidRequest").empty(); }));
  CHECK(milan.granted() == usual_grant);
  CHECK(milan.shown() == usual_grant);
  // W26: cordoning works all the same, and is reported to the consumer.
  milan.change(kinds::resource_slices, milan.slice_key, "",
               [](json::object& next) { kube::testing::set_annotation(next, "liqo.io/cordoned-resource", "true"); });
  CHECK(milan.reaches([&] { return milan.is_cordoned(); }));
  CHECK(milan.reaches([&] { return milan.condition() == "Accepted ResourceSliceCordoned"; }));
  CHECK(milan.granted() == usual_grant);
  milan.change(kinds::resource_slices, milan.slice_key, "",
               [](json::object& next) { kube::testing::remove_annotation(next, "liqo.io/cordoned-resource"); });
  CHECK(milan.reaches([&] { return milan.condition() == "Denied InvalidRequest"; }));
}

TEST_CASE("a policy bounds what a consumer is granted, and a denied edit changes no quota") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  milan.change(resources::namespaces, {"", milan.ns}, "", [](json::object& next) {
    kube::testing::set_annotation(next, "liqo.io/pod-policy",
                                  R"({"maxSliceResources": {"cpu": "9"}, "maxResources": {"memory": "8Gi"}})");
  });
  milan.pass(5s);
  milan.ask(R"({"cpu": "10"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied RequestDenied"; }));
  CHECK(milan.granted() == usual_grant);
  CHECK_FALSE(milan.is_cordoned());
  REQUIRE(milan.reaches([&] { return !milan.events("RequestDenied").empty(); }));
  CHECK(milan.events("RequestDenied").back() ==
        "this cluster grants a slice of consumer rome no more than 9 of cpu, and this one would have 10: allow more "
        "with liqoctl set tenant rome --max-slice; what was granted before stays");
  milan.ask(R"({"cpu": "9"})");
  CHECK(milan.settles_as(R"(cpu="9",memory="8Gi")"));
  milan.ask(R"({"cpu": "9", "memory": "9Gi"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied RequestDenied"; }));
  // A drain is reported as one, whatever is requested meanwhile.
  milan.set_tenant("Drained");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied ResourceSliceResourcesDenied"; }));
  milan.ask(R"({"cpu": "9", "memory": "10Gi"})");
  milan.pass(5s);
  CHECK(milan.condition() == "Denied ResourceSliceResourcesDenied");
  milan.ask(R"({"cpu": "9", "memory": "9Gi"})");
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied RequestDenied"; }));
  // If an administrator allows more, that takes effect at once.
  milan.change(resources::namespaces, {"", milan.ns}, "",
               [](json::object& next) { kube::testing::remove_annotation(next, "liqo.io/pod-policy"); });
  CHECK(milan.settles_as(R"(cpu="9",memory="9Gi")"));
}

TEST_CASE("what a tenant writes into its slice's status or onto its Quota's name grants nothing") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  milan.change(kinds::resource_slices, milan.slice_key, "status", [](json::object& next) {
    kube::ensure_object(next, "status")["resources"] = json::object{{"cpu", "8000"}};
  });
  CHECK(milan.settles_as(usual_grant));
  // Removing the labels of replication does not release the slice from the provider.
  milan.change(kinds::resource_slices, milan.slice_key, "",
               [](json::object& next) { kube::ensure_object(next, "metadata")["labels"] = json::object{}; });
  milan.set_tenant("Cordoned");
  CHECK(milan.reaches([&] { return milan.is_cordoned(); }));
  // Nor does naming another consumer.
  milan.change(kinds::resource_slices, milan.slice_key, "", [](json::object& next) {
    json::object& spec = kube::ensure_object(next, "spec");
    spec["consumerClusterID"] = "paris";
    spec["resources"] = json::object{{"cpu", "800"}};
  });
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.events("WrongConsumer").empty(); }));
  CHECK(milan.granted() == usual_grant);
}

TEST_CASE("cordon and drain of a tenant, and back") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  milan.set_tenant("Cordoned");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == "Accepted ResourceSliceCordoned"; }));
  REQUIRE(milan.reaches([&] { return !milan.events("ResourceSliceCordoned").empty(); }));
  CHECK(milan.events("ResourceSliceCordoned").front() ==
        "this cluster has cordoned consumer rome: what is granted stays, new pods are refused");
  milan.ask(R"({"cpu": "9"})");
  milan.pass(10s);
  CHECK(milan.granted() == usual_grant);
  milan.set_tenant("Active");
  CHECK(milan.settles_as(R"(cpu="9",memory="8Gi")"));
  CHECK(milan.reaches([&] { return !milan.is_cordoned() && milan.condition() == accepted; }));
  milan.set_tenant("Drained");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == closed; }));
  CHECK(milan.granted() == R"(cpu="9",memory="8Gi")");
  CHECK(milan.shown() == R"(cpu="9",memory="8Gi")");
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.is_cordoned() && milan.condition() == accepted; }));
}

TEST_CASE("a Quota that somebody deletes is made again as it was, whatever the provider grants by now") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  bool is_cordoned = false;
  SUBCASE("while the tenant is cordoned") {
    milan.set_tenant("Cordoned");
    REQUIRE(milan.reaches([&] { return milan.is_cordoned(); }));
    is_cordoned = true;
  }
  SUBCASE("when the policy allows less") { milan.set_pod_policy(R"({"maxSliceResources": {"cpu": "1"}})"); }
  SUBCASE("while an edit is denied") {
    milan.set_pod_policy(R"({"maxSliceResources": {"cpu": "8"}})");
    // The policy and the wish come by two watches.
    milan.pass(1s);
    milan.ask(R"({"cpu": "9"})");
    REQUIRE(milan.reaches([&] { return milan.condition() == "Denied RequestDenied"; }));
  }
  milan.pass(1s);
  (void)milan.server.remove(kinds::quotas, milan.quota_key, {}, "operator");
  CHECK(milan.reaches([&] { return milan.granted() == usual_grant; }, 5s));
  CHECK(milan.is_cordoned() == is_cordoned);
  CHECK(milan.shown() == usual_grant);
  // Of an earlier slice nothing is remembered.
  (void)milan.server.remove(kinds::resource_slices, milan.slice_key, {}, "operator");
  CHECK(milan.reaches([&] { return !milan.has(kinds::quotas, milan.quota_key); }));
  milan.set_tenant("Cordoned");
  milan.pass(1s);
  milan.add_slice(R"({"cpu": "8"})");
  milan.pass(10s);
  CHECK(milan.granted() == "");
}

TEST_CASE("a slice that comes while its tenant is cordoned is denied until it is active") {
  SliceProvider milan;
  milan.set_tenant("Cordoned");
  milan.pass(1s);
  milan.add_slice("{}");
  CHECK(milan.reaches([&] { return milan.condition() == closed; }));
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
  milan.set_tenant("Active");
  CHECK(milan.settles_as(R"(cpu="4",memory="8Gi")"));
}

TEST_CASE("the strictness of Quotas, and the default class, can be switched while liqod runs") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  milan.set_policy(R"({"default-limits-enforcement": "Hard", "sharing-percentage": "many"})");
  CHECK(milan.reaches([&] { return api::Quota(*milan.find(kinds::quotas, milan.quota_key)).enforcement() == "Hard"; }));
  CHECK(milan.reaches([&] { return !milan.events("SettingNotTaken").empty(); }));
  milan.set_policy(R"({"default-resource-slice-class-enabled": "false"})");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied DefaultResourceSliceClassDisabled"; }));
  CHECK(milan.granted() == usual_grant);
}

TEST_CASE("a StorageClass that the settings name and that is not there is told at the settings, once") {
  SliceProvider milan;
  milan.server.serve(kinds::storage_classes);
  const auto add_class = [&](std::string name) {
    milan.apply(kinds::storage_classes, kube::Object::make(kinds::storage_classes, {"", std::move(name)}));
  };
  add_class("slow");
  SUBCASE("it is not there") {
    milan.set_policy(R"({"enable-storage": "true", "real-storage-class-name": "fast"})");
    REQUIRE(milan.reaches([&] { return !milan.events("StorageClassMissing").empty(); }));
    CHECK(milan.events("StorageClassMissing").front() ==
          "real-storage-class-name: there is no StorageClass fast, so consumers are offered no class by default, and "
          "claims of Liqo's class get no volume here: create it, or name another one (value "
          "storage.realStorageClassName)");
    add_class("slower");
    milan.pass(10s);
    CHECK(milan.events("StorageClassMissing").size() == 1);
  }
  SUBCASE("it is there") {
    add_class("fast");
    milan.set_policy(R"({"enable-storage": "true", "real-storage-class-name": "fast"})");
    milan.pass(1min);
    CHECK(milan.events("StorageClassMissing").empty());
  }
  SUBCASE("no storage is offered") {
    milan.set_policy(R"({"enable-storage": "false", "real-storage-class-name": "fast"})");
    milan.pass(1min);
    CHECK(milan.events("StorageClassMissing").empty());
  }
}

TEST_CASE("a setting that cannot be read after a start takes nothing back, and grants nothing") {
  SliceProvider milan;
  milan.set_policy(
      R"({"default-limits-enforcement": "Hard", "ingress-classes": "nginx", "cluster-labels": "region=eu"})");
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.settles_as(usual_grant));
  const auto enforcement = [&] {
    return std::string(api::Quota(*milan.find(kinds::quotas, milan.quota_key)).enforcement());
  };
  const auto status = [&] {
    json::object shown = milan.find(kinds::resource_slices, milan.slice_key)->status();
    // The certificate is renewed.
    shown.erase("authParams");
    return json::serialize(shown);
  };
  REQUIRE(milan.reaches(
      [&] { return status().contains("nginx") && status().contains("Authentication") && enforcement() == "Hard"; }));
  const std::string before = status();
  milan.stop();
  milan.set_policy(R"({"default-limits-enforcement": "Harder", "ingress-classes": "A B", "cluster-labels": "region"})");
  milan.start(milan.settings);
  milan.pass(1min);
  CHECK(milan.granted() == usual_grant);
  CHECK(enforcement() == "Hard");
  CHECK(status() == before);
  CHECK(milan.events("SettingNotTaken").size() == 3);
  milan.ask(R"({"cpu": "2"})");
  CHECK(milan.reaches([&] { return milan.condition() == denied; }));
  CHECK(milan.granted() == usual_grant);
  milan.set_policy(
      R"({"default-limits-enforcement": "Soft", "ingress-classes": "traefik", "cluster-labels": "region=us"})");
  CHECK(milan.settles_as(R"(cpu="2",memory="8Gi")"));
  CHECK(milan.reaches([&] { return enforcement() == "Soft" && status().contains("traefik"); }));
}

TEST_CASE("a custom class is its controller's: the Quota follows, and a drain comes and goes") {
  SliceProvider milan;
  milan.add_slice(R"({"cpu": "8"})", "gold");
  milan.pass(10s);
  CHECK(milan.condition() == "");
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
  milan.answer_as_custom("Accepted", R"({"cpu": "2"})");
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="2")"; }));
  CHECK(milan.condition() == "Accepted Custom");
  milan.answer_as_custom("Denied", R"({"cpu": "1"})");
  milan.pass(10s);
  CHECK(milan.granted() == R"(cpu="2")");
  CHECK(milan.condition() == "Denied Custom");
  milan.answer_as_custom("Accepted", R"({"cpu": "3"})");
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="3")"; }));
  milan.set_tenant("Drained");
  CHECK(milan.reaches([&] { return milan.is_cordoned() && milan.condition() == "Denied TenantDrained"; }));
  // Its controller has another view: the two do not overwrite each other, and the Quota stays cordoned.
  milan.answer_as_custom("Accepted", R"({"cpu": "3"})");
  milan.pass(1min);
  CHECK(milan.condition() == "Accepted Custom");
  CHECK(milan.is_cordoned());
  milan.set_tenant("Active");
  CHECK(milan.reaches([&] { return !milan.is_cordoned(); }));
  CHECK(milan.granted() == R"(cpu="3")");
  // A class that goes back to the built-in one is negotiated again.
  milan.set_class("default");
  CHECK(milan.settles_as(usual_grant));
}

TEST_CASE("the Quota of an earlier slice of the same name is not inherited") {
  SliceProvider milan;
  kube::Object stale = kube::Object::make(kinds::quotas, milan.quota_key);
  stale.mutable_spec() = parsed(R"({"user": "pool", "resources": {"cpu": "999"}})");
  stale.add_owner_reference({.api_version = kinds::resource_slices.api_version(),
                             .kind = "ResourceSlice",
                             .name = "pool",
                             .uid = "an-earlier-one",
                             .controller = true,
                             .block_owner_deletion = true});
  milan.apply(kinds::quotas, stale);
  milan.add_slice(R"({"cpu": "8"})");
  CHECK(milan.settles_as(usual_grant));
}

}  // namespace liqo::testing
