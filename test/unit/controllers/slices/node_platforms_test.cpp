// The platform that a provider shows to consumers, over a fake API server.
#include <doctest/doctest.h>

#include "slices_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

}  // namespace

TEST_CASE("consumers are told what the machines are, at once and when that changes") {
  SliceProvider milan;
  const auto set_node = [&](std::string_view name, std::string_view architecture) {
    kube::Object node = kube::Object::make(resources::nodes, {"", std::string(name)});
    node.set_label("kubernetes.io/arch", architecture);
    milan.apply(resources::nodes, node);
  };
  const auto told = [&] {
    const auto slice = milan.find(kinds::resource_slices, milan.slice_key);
    return std::string(kube::string_at(slice->status(), {"nodeLabels", "kubernetes.io/arch"}));
  };
  set_node("n1", "arm64");
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.reaches([&] { return milan.condition() == accepted; }));
  CHECK(told() == "arm64");
  set_node("n2", "amd64");
  CHECK(milan.reaches([&] { return told().empty(); }));
  milan.set_policy(R"({"cluster-labels": "kubernetes.io/arch=riscv64"})");
  CHECK(milan.reaches([&] { return told() == "riscv64"; }));
  CHECK(milan.server.remove(resources::config_maps, {"liqo", "liqo-sharing-policy"}, {}, "operator").has_value());
  CHECK(milan.reaches([&] { return told().empty(); }));
  CHECK(milan.server.remove(resources::nodes, {"", "n1"}, {}, "operator").has_value());
  CHECK(milan.reaches([&] { return told() == "amd64"; }));
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(1h);
  CHECK(milan.writes() == before);
}

TEST_CASE("consumers are told the features that all machines declare, and when these change") {
  SliceProvider milan;
  const auto set_node = [&](std::string_view name, std::string_view features) {
    kube::Object node = kube::Object::make(resources::nodes, {"", std::string(name)});
    milan.apply(resources::nodes, node);
    milan.change(resources::nodes, node.key(), "status", [&](json::object& next) {
      kube::ensure_object(next, "status")["declaredFeatures"] = *kube::parse_json(features);
    });
  };
  const auto told = [&] {
    const auto slice = milan.find(kinds::resource_slices, milan.slice_key);
    return text(kube::object_at(slice->status(), {"nodeLabels"}));
  };
  set_node("n1", R"(["A", "B", "C/d"])");
  milan.add_slice(R"({"cpu": "8"})");
  REQUIRE(milan.reaches([&] { return milan.condition() == accepted; }));
  CHECK(milan.reaches([&] { return told() == R"(features.liqo.io/A="true",features.liqo.io/B="true")"; }));
  set_node("n2", R"(["B", "C/d"])");
  CHECK(milan.reaches([&] { return told() == R"(features.liqo.io/B="true")"; }));
  milan.pass(5s);
  const std::size_t before = milan.writes();
  // These do not change the shown platform.
  set_node("n2", R"(["B", "E"])");
  set_node("n1", R"(["B", "F"])");
  milan.pass(1h);
  CHECK(milan.writes() == before);
  set_node("n1", "[]");
  CHECK(milan.reaches([&] { return told().empty(); }));
}

}  // namespace liqo::testing
