#include "trouble_world.hpp"

#include <doctest/doctest.h>

#include "invariants.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

using namespace std::chrono_literals;
using kube::testing::ChangeType;
using kube::testing::FakeChange;
namespace resources = kube::resources;

namespace {

constexpr std::string_view actor = "operator";

controllers::Settings settings_for(std::string_view cluster, bool node_failures) {
  controllers::Settings settings;
  settings.cluster_id = cluster;
  settings.nodes.node_ip = "172.18.0.2";
  settings.nodes.kubelet_version = "v1.35.4";
  settings.nodes.node_failures = node_failures;
  return settings;
}

std::optional<kube::Object> found(const Tree& tree) { return tree ? std::optional(kube::Object(*tree)) : std::nullopt; }

}  // namespace

TroubleWorld::TroubleWorld(bool node_failures)
    : rome(simulator, "rome", 1),
      milan(simulator, "milan", 2),
      at_milan(simulator, "milan", milan.server, {}, settings_for("milan", node_failures)),
      at_rome(simulator, "rome", rome.server, {{"milan", &milan.server}}, settings_for("rome", false)),
      slow_kubelet_(simulator, milan.server, {.node_prefix = "slow-", .stop_low = 40s, .stop_high = 40s}),
      grants_(simulator, milan.server, 3) {
  milan.server.store().on_change([this](const FakeChange& change) { place(change); });
  rome.add_provider("milan");
  add_tenant_namespace(milan, "rome");
  add_twin(milan, "rome");
  (void)rome.server.create(resources::namespaces, {{"metadata", json::object{{"name", home_namespace}}}}, actor);
  at_milan.start();
  at_rome.start();
  REQUIRE(reaches([this] { return condition(virtual_node(), "Ready").starts_with("True"); }, 1min));
}

TroubleWorld::~TroubleWorld() {
  for (ProcessBox* box : {&at_rome, &at_milan}) {
    CHECK(box->crash() == "");
    for (const Violation& violation : box->check_requests()) FAIL_CHECK(violation.invariant << ": " << violation.what);
    if (box->is_running()) simulator.run(box->stop(false), 2min);
  }
}

void TroubleWorld::place(const FakeChange& change) {
  if (change.type != ChangeType::added || change.kind->plural != "pods" || worker == "worker-1") return;
  // The binding is made before the scheduler makes one, which knows no other node.
  simulator.clock().call_in(1us, [this, key = change.key, node = worker] {
    const json::object binding{{"target", json::object{{"kind", "Node"}, {"name", node}}}};
    (void)milan.server.handle(
        kube::request::create_subresource(resources::pods, key, "binding", json::serialize(binding)), "scheduler");
  });
}

void TroubleWorld::create_pod(std::string_view name, std::int64_t grace) {
  json::object pod = workload_pod(name, "Always");
  pod["spec"].as_object()["nodeName"] = "milan";
  pod["spec"].as_object()["terminationGracePeriodSeconds"] = grace;
  REQUIRE(rome.server.create(resources::pods, std::move(pod), actor).has_value());
}

void TroubleWorld::run_pod(std::string_view name, std::int64_t grace) {
  create_pod(name, grace);
  if (worker == dead_node) {
    REQUIRE(
        reaches([&] { return remote(name) && !kube::string_at(remote(name)->spec(), {"nodeName"}).empty(); }, 1min));
    say_that_it_runs(name);
  }
  REQUIRE(reaches([&] { return condition(local(name), "Ready").starts_with("True"); }, 1min));
}

void TroubleWorld::delete_pod(std::string_view name) {
  (void)rome.server.remove(resources::pods, {std::string(home_namespace), std::string(name)}, {}, actor);
}

void TroubleWorld::say_that_it_runs(std::string_view name) {
  (void)milan.server.update(
      {resources::pods, {twin_namespace("rome"), std::string(name)}, "status"},
      [](json::object& next) {
        json::object& status = kube::ensure_object(next, "status");
        status["phase"] = "Running";
        status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
      },
      "kubelet");
}

std::optional<kube::Object> TroubleWorld::local(std::string_view name) const {
  return found(rome.server.get(resources::pods, {std::string(home_namespace), std::string(name)}));
}
std::optional<kube::Object> TroubleWorld::remote(std::string_view name) const {
  return found(milan.server.get(resources::pods, {twin_namespace("rome"), std::string(name)}));
}
std::optional<kube::Object> TroubleWorld::shadow(std::string_view name) const {
  return found(milan.server.get(api::kinds::shadow_pods, {twin_namespace("rome"), std::string(name)}));
}

std::string TroubleWorld::phase(std::string_view name) const {
  const auto pod = local(name);
  return pod ? std::string(phase_of(pod->tree())) : "";
}

std::string TroubleWorld::condition(const std::optional<kube::Object>& object, std::string_view type) {
  const json::object* said = object ? kube::find_condition(object->status(), type) : nullptr;
  if (!said) return "";
  return std::string(kube::string_at(*said, {"status"})) + " " + std::string(kube::string_at(*said, {"reason"}));
}

std::optional<kube::Object> TroubleWorld::virtual_node() const {
  return found(rome.server.get(resources::nodes, {"", "milan"}));
}

std::size_t TroubleWorld::events(std::string_view reason) const {
  std::size_t count = 0;
  for (const Tree& event : rome.server.list(resources::events)) count += kube::string_at(*event, {"reason"}) == reason;
  return count;
}

std::size_t TroubleWorld::runs(std::string_view name) const {
  std::size_t count = 0;
  for (const auto* kubelet : std::initializer_list<const kube::testing::FakeKubelet*>{&milan.kubelet, &slow_kubelet_})
    for (const kube::testing::FakeRun& run : kubelet->runs()) count += name_of(*run.pod) == name;
  return count;
}

std::size_t TroubleWorld::writes_in_milan() const {
  std::size_t count = 0;
  for (const auto& write : milan.server.writes())
    count += write.actor == "liqod-rome" && (write.plural == "pods" || write.plural == "shadowpods");
  return count;
}

kube::testing::SimLink& TroubleWorld::wan() { return *at_rome.links().at(1); }

bool TroubleWorld::reaches(const std::function<bool()>& holds, kube::Duration limit) {
  return simulator.run_until(holds, limit) == kube::testing::Simulator::End::reached;
}

}  // namespace liqo::sim
