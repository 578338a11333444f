#include "kinds.hpp"

#include "liqo/api/kinds.hpp"

namespace liqo::bench {

namespace kinds = api::kinds;

std::vector<kube::Resource> kinds_of_provider() {
  return {kinds::shadow_pods, kinds::shadow_endpoint_slices, kinds::namespace_maps, kinds::quotas, kinds::tenants,
          kinds::identities,  kinds::resource_slices,        kinds::renews};
}

std::vector<kube::Resource> kinds_of_home() {
  std::vector<kube::Resource> all = kinds_of_provider();
  for (const kube::Resource& kind :
       {kinds::virtual_nodes, kinds::namespace_offloadings, kinds::vk_options_templates, kinds::foreign_clusters,
        kinds::ips, kinds::networks, kinds::configurations, kinds::roles, kinds::cluster_roles, kinds::service_cidrs,
        kinds::network_policies, kinds::runtime_classes, kinds::limit_ranges, kinds::volumes, kinds::storage_classes,
        kinds::custom_resource_definitions, kinds::api_services, kinds::mutating_configurations,
        kinds::validating_configurations})
    all.push_back(kind);
  return all;
}

}  // namespace liqo::bench
