#include "liqo/api/namespace_offloading.hpp"

namespace liqo::api {

NamespaceMappingStrategy NamespaceOffloading::mapping_strategy() const {
  const std::string_view text = kube::string_at(object_->spec(), {"namespaceMappingStrategy"});
  if (text == "EnforceSameName") return NamespaceMappingStrategy::enforce_same_name;
  if (text == "SelectedName") return NamespaceMappingStrategy::selected_name;
  return NamespaceMappingStrategy::default_name;
}

PodOffloadingStrategy NamespaceOffloading::pod_strategy() const {
  const kube::json::value* value = kube::find(object_->spec(), {"podOffloadingStrategy"});
  if (!value || value->is_null()) return PodOffloadingStrategy::local_and_remote;
  const std::string_view text = value->is_string() ? std::string_view(value->get_string()) : std::string_view();
  if (text == "LocalAndRemote") return PodOffloadingStrategy::local_and_remote;
  if (text == "Remote") return PodOffloadingStrategy::remote;
  return PodOffloadingStrategy::local;
}

}  // namespace liqo::api
