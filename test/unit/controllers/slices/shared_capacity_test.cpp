// A slice of class share over a fake API server: it follows what is free at the provider.
#include <doctest/doctest.h>

#include "kube/testing/tree.hpp"
#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

}  // namespace

TEST_CASE("a share follows the nodes and pods of the provider, but not the consumer's own pods") {
  SliceProvider milan;
  const auto add_node = [&](std::string_view name, std::string_view cpu) {
    kube::Object node = kube::Object::make(resources::nodes, {"", std::string(name)});
    node.mutable_status() = parsed(R"({"allocatable": {"cpu": ")" + std::string(cpu) +
                                   R"("}, "conditions": [{"type": "Ready", "status": "True"}]})");
    milan.apply(resources::nodes, node);
  };
  const auto add_pod = [&](std::string_view ns, std::string_view name, std::string_view cpu, bool offloaded) {
    kube::Object pod = kube::Object::make(resources::pods, {std::string(ns), std::string(name)});
    if (offloaded) pod.set_label(api::labels::managed_by, api::labels::managed_by_shadow_pod);
    pod.mutable_spec() = parsed(R"({"nodeName": "n1", "containers": [{"name": "c", "image": "i", "resources":
      {"requests": {"cpu": ")" + std::string(cpu) +
                                R"("}}}]})");
    milan.apply(resources::pods, pod);
  };
  const auto cpu_is = [&](std::string_view cpu) {
    const std::string wanted = "cpu=\"" + std::string(cpu) + "\"";
    return milan.reaches([&] { return milan.granted() == wanted && milan.shown() == wanted; });
  };
  add_node("n1", "100");
  kube::Object twin = kube::Object::make(resources::namespaces, {"", "shop-rome"});
  twin.set_label(api::labels::remote_cluster_id, "rome");
  milan.apply(resources::namespaces, twin);
  milan.add_slice("{}", "share");
  CHECK(cpu_is("90"));
  add_pod("shop", "own", "50", false);
  CHECK(cpu_is("45"));
  add_pod("shop-rome", "theirs", "40", true);
  milan.pass(30s);
  CHECK(cpu_is("45"));
  static_cast<void>(milan.server.remove(resources::pods, {"shop", "own"}, {.grace_period_seconds = 0}, "operator"));
  add_node("n2", "100");
  CHECK(cpu_is("180"));
  // A small change waits until ten seconds were quiet.
  add_pod("shop", "small", "2", false);
  milan.pass(9s);
  CHECK(cpu_is("180"));
  milan.pass(2s);
  CHECK(milan.granted() == R"(cpu="178200m")");
  milan.set_policy(R"({"sharing-percentage": "50"})");
  CHECK(cpu_is("99"));
  milan.change(kinds::tenants, {milan.ns, "rome"}, "",
               [](json::object& next) { kube::testing::set_annotation(next, "liqo.io/sharing-percentage", "10"); });
  CHECK(milan.reaches([&] { return milan.granted() == R"(cpu="19800m")"; }));
  milan.ask(R"({"cpu": "3"})");
  CHECK(cpu_is("3"));
}

TEST_CASE(
    "a share goes to nothing and comes back, by the setting and by the Tenant, and a text that is no number changes "
    "nothing") {
  SliceProvider milan;
  kube::Object node = kube::Object::make(resources::nodes, {"", "n1"});
  node.mutable_status() =
      parsed(R"({"allocatable": {"cpu": "100"}, "conditions": [{"type": "Ready", "status": "True"}]})");
  milan.apply(resources::nodes, node);
  const auto cpu_is = [&](std::string_view cpu) {
    const std::string wanted = "cpu=\"" + std::string(cpu) + "\"";
    return milan.reaches([&] { return milan.granted() == wanted && milan.shown() == wanted; });
  };
  const auto annotate = [&](const char* value) {
    milan.change(kinds::tenants, {milan.ns, "rome"}, "", [value](json::object& next) {
      kube::testing::set_annotation(next, "liqo.io/sharing-percentage", value);
    });
  };
  milan.set_policy(R"({"sharing-percentage": "0"})");
  milan.add_slice("{}", "share");
  CHECK(milan.reaches([&] { return milan.condition() == "Denied ShareResourceSliceClassDisabled"; }));
  CHECK_FALSE(milan.has(kinds::quotas, milan.quota_key));
  milan.set_policy(R"({"sharing-percentage": "50"})");
  CHECK(cpu_is("50"));
  milan.set_policy(R"({"sharing-percentage": "half"})");
  milan.pass(30s);
  CHECK(cpu_is("50"));
  CHECK_FALSE(milan.events("SettingNotTaken").empty());
  milan.set_policy(R"({"sharing-percentage": "0"})");
  CHECK(cpu_is("0"));
  CHECK(milan.condition() == accepted);
  annotate("20");
  CHECK(cpu_is("20"));
  annotate("a fifth");
  milan.pass(30s);
  CHECK(cpu_is("20"));
  annotate("0");
  CHECK(cpu_is("0"));
}

TEST_CASE("a share of a consumer that cannot be read after a start is no share, and what is granted stays") {
  SliceProvider milan;
  kube::Object node = kube::Object::make(resources::nodes, {"", "n1"});
  node.mutable_status() =
      parsed(R"({"allocatable": {"cpu": "100"}, "conditions": [{"type": "Ready", "status": "True"}]})");
  milan.apply(resources::nodes, node);
  milan.add_slice("{}", "share");
  REQUIRE(milan.reaches([&] { return milan.granted() == R"(cpu="90")"; }));
  milan.stop();
  milan.change(kinds::tenants, {milan.ns, "rome"}, "",
               [](json::object& next) { kube::testing::set_annotation(next, "liqo.io/sharing-percentage", "a half"); });
  milan.start(milan.settings);
  milan.pass(1min);
  CHECK(milan.granted() == R"(cpu="90")");
  CHECK(milan.condition() == accepted);
  CHECK_FALSE(milan.events("SettingNotTaken").empty());
  // Another request is a new one.
  milan.ask(R"({"cpu": "80"})");
  CHECK(milan.reaches([&] { return milan.condition() == denied; }));
  CHECK(milan.granted() == R"(cpu="90")");
}

TEST_CASE("the last share slice that goes ends the watch of all pods") {
  SliceProvider milan;
  // No other cache of a liqod without virtual nodes holds a pod that is not offloaded.
  const std::string held = R"(kube_informer_objects{cluster="milan",resource="pods"} 1)";
  kube::Object pod = kube::Object::make(resources::pods, {"shop", "own"});
  pod.mutable_spec() = parsed(R"({"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]})");
  milan.apply(resources::pods, pod);
  milan.add_slice("{}", "share");
  REQUIRE(milan.reaches([&] { return milan.metrics().contains(held); }));
  static_cast<void>(
      milan.server.remove(kinds::resource_slices, milan.slice_key, {.grace_period_seconds = 0}, "operator"));
  REQUIRE_FALSE(milan.has(kinds::resource_slices, milan.slice_key));
  CHECK(milan.reaches([&] { return !milan.metrics().contains(held); }));
}

}  // namespace liqo::testing
