#include "core/namespaces/belonging.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::core {

kube::Selection kept_by_liqo() {
  return {.label_selector = kube::label_is(api::labels::app_managed_by, api::labels::app_managed_by_liqo)};
}

kube::Selection marked_tenant_namespaces() { return {.label_selector = std::string(api::labels::tenant_namespace)}; }

bool is_tenant_namespace(const kube::Object& ns) {
  const std::string_view marked = ns.label(api::labels::tenant_namespace);
  return !marked.empty() && marked != "false";
}

std::string_view consumer_of_twin(const kube::Object& ns) {
  return is_tenant_namespace(ns) ? std::string_view() : ns.label(api::labels::remote_cluster_id);
}

}  // namespace liqo::core
