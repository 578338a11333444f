// The note of a provider on a Pod about topology keys that its nodes do not have.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// Provider milan, whose machines say nothing of zones.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
  }
  ~Provider() { stop(); }

  void add_machine(const std::string& name, std::string_view label) {
    kube::Object node = kube::Object::make(resources::nodes, {"", name});
    node.set_label(label, name);
    apply(resources::nodes, std::move(node));
  }
  void order(const std::string& name, std::string_view key) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {"shop-rome", name});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    // What a consumer writes there is not the provider's word.
    shadow.set_annotation(api::annotations::missing_topology_keys, R"(["a lie"])");
    json::object pod{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    if (!key.empty())
      pod["topologySpreadConstraints"] =
          json::array{json::object{{"maxSkew", 1}, {"topologyKey", key}, {"whenUnsatisfiable", "ScheduleAnyway"}}};
    shadow.mutable_spec()["pod"] = std::move(pod);
    apply(kinds::shadow_pods, std::move(shadow));
  }
  /// The note on the Pod once it is there.
  std::string note(const std::string& name) {
    std::optional<kube::Object> pod;
    REQUIRE(reaches([&] { return (pod = find(resources::pods, {"shop-rome", name})).has_value(); }));
    return std::string(pod->annotation(api::annotations::missing_topology_keys));
  }
};

}  // namespace

TEST_CASE("a Pod that is spread by a key that no node has says so to its home") {
  Provider milan;
  milan.add_machine("milan-1", "kubernetes.io/hostname");
  milan.order("plain", "");
  CHECK(milan.note("plain") == "");
  // The first one waits until the nodes are known.
  milan.order("zoned", "topology.kubernetes.io/zone");
  CHECK(milan.note("zoned") == R"(["topology.kubernetes.io/zone"])");
  milan.order("hosted", "kubernetes.io/hostname");
  CHECK(milan.note("hosted") == "");
  milan.add_machine("milan-2", "topology.kubernetes.io/zone");
  milan.pass(2s);
  milan.order("later", "topology.kubernetes.io/zone");
  CHECK(milan.note("later") == "");
}

}  // namespace liqo::testing
