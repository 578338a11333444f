#include "liqo/api/virtual_node.hpp"

#include "condition.hpp"

namespace liqo::api {
namespace json = kube::json;
namespace {

std::vector<std::string> strings(const json::array& entries) {
  std::vector<std::string> found;
  for (const json::value& entry : entries)
    if (entry.is_string()) found.emplace_back(entry.get_string());
  return found;
}

}  // namespace

bool VirtualNode::create_node() const { return kube::bool_at(object_->tree(), {"spec", "createNode"}, true); }

bool VirtualNode::disable_network_check() const {
  return kube::bool_at(object_->tree(), {"spec", "disableNetworkCheck"}, false);
}

OffloadingPatch VirtualNode::offloading_patch() const {
  const json::object& patch = kube::object_at(object_->spec(), {"offloadingPatch"});
  return {.annotations_not_reflected = strings(kube::array_at(patch, {"annotationsNotReflected"})),
          .labels_not_reflected = strings(kube::array_at(patch, {"labelsNotReflected"})),
          .node_selector = kube::object_at(patch, {"nodeSelector"}),
          .tolerations = kube::array_at(patch, {"tolerations"}),
          .node_affinity = kube::object_at(patch, {"affinity", "nodeAffinity"}),
          .runtime_class = std::string(kube::string_at(patch, {"runtimeClassName"}))};
}

std::optional<json::object> with_condition(const kube::Object& virtual_node, const VirtualNodeCondition& wanted,
                                           kube::WallTime now) {
  auto conditions =
      merge_condition(kube::array_at(virtual_node.status(), {"conditions"}),
                      {wanted.type, wanted.status, wanted.reason, wanted.message}, TransitionOn::status, now);
  if (!conditions) return std::nullopt;
  json::object status = virtual_node.status();
  status["conditions"] = std::move(*conditions);
  return status;
}

}  // namespace liqo::api
