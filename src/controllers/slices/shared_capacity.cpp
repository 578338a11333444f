#include "controllers/slices/shared_capacity.hpp"

#include "controllers/common/keep_fields.hpp"
#include "controllers/common/scopes.hpp"
#include "core/namespaces/belonging.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace json = kube::json;
namespace {

void prune_pod(json::object& tree) {
  keep_fields_of(tree, "metadata", {"name", "namespace", "uid", "resourceVersion", "labels"});
  keep_fields_of(tree, "spec", {"nodeName", "containers", "initContainers", "overhead", "resources"});
  keep_fields_of(tree, "status", {"phase"});
  json::value* spec = tree.if_contains("spec");
  if (!spec || !spec->is_object()) return;
  for (const std::string_view list : {"containers", "initContainers"}) {
    json::value* containers = spec->get_object().if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (json::value& container : containers->get_array())
      if (container.is_object()) keep_fields(container.get_object(), {"name", "resources", "restartPolicy"});
  }
}

}  // namespace

SharedCapacity::SharedCapacity(Context context, std::function<void()> changed)
    : context_(std::move(context)), changed_(std::move(changed)) {}

void SharedCapacity::set_watching(bool wanted) {
  if (wanted == bool(nodes_)) return;
  inventory_ = core::Inventory();
  if (!wanted) {
    nodes_.release();
    pods_.release();
    namespaces_.release();
    return;
  }
  nodes_ = context_.home.acquire(scope_of_machines());
  pods_ = context_.home.acquire({.resource = kube::resources::pods, .prune = prune_pod});
  namespaces_ = context_.home.acquire({.resource = kube::resources::namespaces,
                                       .selection = {.label_selector = std::string(api::labels::remote_cluster_id)}});
  nodes_.follow([this](const kube::Change& node) { take_node(node); }, changed_);
  pods_.follow([this](const kube::Change& pod) { take_pod(pod); }, changed_);
  namespaces_.follow([this](const kube::Change& ns) { take_namespace(ns); }, changed_);
}

bool SharedCapacity::is_known() const {
  return nodes_ && nodes_->has_synced() && pods_->has_synced() && namespaces_->has_synced();
}

void SharedCapacity::take_node(const kube::Change& node) {
  inventory_.set_node(node.key.name, node.now);
  changed_();
}

void SharedCapacity::take_pod(const kube::Change& pod) {
  inventory_.set_pod(pod.key, pod.now);
  changed_();
}

void SharedCapacity::take_namespace(const kube::Change& ns) {
  inventory_.set_namespace(ns.key.name, std::string(ns.now ? core::consumer_of_twin(*ns.now) : ""));
  changed_();
}

}  // namespace liqo::controllers
