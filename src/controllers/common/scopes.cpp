#include "controllers/common/scopes.hpp"

#include "controllers/common/keep_fields.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

namespace labels = api::labels;

void prune_node(kube::json::object& tree) {
  keep_fields_of(tree, "metadata", {"name", "uid", "resourceVersion", "labels"});
  keep_fields_of(tree, "spec", {"unschedulable", "taints"});
  keep_fields_of(tree, "status", {"allocatable", "conditions", "addresses", "daemonEndpoints", "declaredFeatures"});
}

}  // namespace

kube::InformerScope scope_of_machines() {
  return {.resource = kube::resources::nodes,
          .ns = {},
          .selection = {.label_selector = kube::label_is_not(labels::type, labels::type_virtual_node)},
          .prune = prune_node};
}

kube::InformerScope scope_of_virtual_nodes() {
  return {.resource = kube::resources::nodes,
          .ns = {},
          .selection = {.label_selector = kube::label_is(labels::type, labels::type_virtual_node)}};
}

kube::InformerScope scope_of_consumer_pods() {
  return {.resource = kube::resources::pods,
          .ns = {},
          .selection = {.label_selector = kube::label_is(labels::managed_by, labels::managed_by_shadow_pod)}};
}

kube::InformerScope scope_of_pods_on(const std::string& node) {
  return {.resource = kube::resources::pods, .ns = {}, .selection = {.field_selector = "spec.nodeName=" + node}};
}

}  // namespace liqo::controllers
