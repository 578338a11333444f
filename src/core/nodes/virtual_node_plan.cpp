#include "core/nodes/virtual_node_plan.hpp"

#include "core/nodes/probe.hpp"
#include "core/peering/silence.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core {
namespace {

using namespace virtual_node_action;

Report report_session(const VirtualNodeSight& sight) {
  const bool is_silent = sight.has_session && !is_alive(sight.health);
  if (sight.has_session && !is_silent && sight.trouble.empty()) {
    if (sight.health.silence.empty()) return {.type = "VirtualKubelet", .status = "Running"};
    return {.type = "VirtualKubelet", .status = "Running", .reason = provider_silent, .message = sight.health.silence};
  }
  return {.type = "VirtualKubelet",
          .status = "Creating",
          .reason = api::reasons::provider_unusable,
          .message = is_silent ? "the provider does not answer: " + sight.health.last_error : sight.trouble};
}

}  // namespace

VirtualNodePlan plan_virtual_node(const VirtualNodeSight& sight) {
  const kube::Object* node = sight.node;
  const Closed closed = sight.health.closed;
  const bool is_wanted = api::VirtualNode(sight.virtual_node).create_node();
  if (!is_wanted && node && why_foreign(*node).empty()) return Withdraw{};

  Keep plan{.steps = {}, .look_soon = closed == Closed::full};
  const auto add = [&plan](auto step) { plan.steps.emplace_back(std::move(step)); };
  if (is_wanted && (sight.has_session || node || sight.is_foreign)) {
    if (node && !draining_since(sight.virtual_node).empty() && kube::bool_at(node->tree(), {"spec", "unschedulable"}))
      add(Uncordon{});
    // A silent provider has refused nobody: what runs there stays.
    const bool is_closed = closed != Closed::no && closed != Closed::silent;
    add(WriteNode{.is_closed = is_closed, .is_reported = is_closed && closed != Closed::full});
  }
  if (!is_wanted && !node) add(FreePort{});
  if (!is_wanted) add(Report{.type = "Node", .status = "None"});
  add(report_session(sight));
  return plan;
}

Report report_written(const kube::Result<void>& written) {
  if (written) return {.type = "Node", .status = "Running"};
  return {.type = "Node", .status = "Creating", .reason = "NodeNotWritten", .message = written.error().text()};
}

std::string_view draining_since(const kube::Object& virtual_node) {
  const kube::json::object* node = kube::find_condition(virtual_node.status(), "Node");
  if (!node || kube::string_at(*node, {"status"}) != "Draining") return {};
  return kube::string_at(*node, {"lastTransitionTime"});
}

}  // namespace liqo::core
