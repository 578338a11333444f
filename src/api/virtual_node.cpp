#include "liqo/api/virtual_node.hpp"

#include "api/condition.hpp"

namespace liqo::api {
namespace json = kube::json;
namespace {

std::string_view chosen(const json::array& classes, std::string_view name) {
  for (const json::value& offer : classes)
    if (kube::bool_at(offer, {"default"})) return kube::string_at(offer, {name});
  return classes.empty() ? std::string_view() : kube::string_at(classes.front(), {name});
}

}  // namespace

bool VirtualNode::create_node() const { return kube::bool_at(object_->tree(), {"spec", "createNode"}, true); }

bool VirtualNode::disable_network_check() const {
  return kube::bool_at(object_->tree(), {"spec", "disableNetworkCheck"}, false);
}

std::string_view VirtualNode::ingress_class() const {
  return chosen(kube::array_at(object_->spec(), {"ingressClasses"}), "ingressClassName");
}

std::string_view VirtualNode::load_balancer_class() const {
  return chosen(kube::array_at(object_->spec(), {"loadBalancerClasses"}), "loadBalancerClassName");
}

std::string_view VirtualNode::storage_class() const { return chosen(storage_classes(), "storageClassName"); }

OffloadingPatch VirtualNode::offloading_patch() const {
  const json::object& patch = kube::object_at(object_->spec(), {"offloadingPatch"});
  return {.annotations_not_reflected = kube::strings_in(kube::array_at(patch, {"annotationsNotReflected"})),
          .labels_not_reflected = kube::strings_in(kube::array_at(patch, {"labelsNotReflected"})),
          // The patch is kept for the whole session, so these are copied out of the object's memory.
          .node_selector = json::object(kube::object_at(patch, {"nodeSelector"}), json::storage_ptr()),
          .tolerations = json::array(kube::array_at(patch, {"tolerations"}), json::storage_ptr()),
          .node_affinity = json::object(kube::object_at(patch, {"affinity", "nodeAffinity"}), json::storage_ptr()),
          .runtime_class = std::string(kube::string_at(patch, {"runtimeClassName"}))};
}

std::optional<json::object> with_condition(const kube::Object& virtual_node, const kube::Condition& wanted,
                                           kube::WallTime now) {
  auto conditions =
      merge_condition(kube::array_at(virtual_node.status(), {"conditions"}), wanted, TransitionOn::status, now);
  if (!conditions) return std::nullopt;
  json::object status = virtual_node.status();
  status["conditions"] = std::move(*conditions);
  return status;
}

}  // namespace liqo::api
