// The Configurations in a tenant namespace, which declare the addresses of its peer.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "kube/runtime/store.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

/// The Configurations of a cluster in its tenant namespace; none if it has no such namespace ("").
inline std::vector<kube::Object> configurations_of(const kube::Store& configurations, std::string_view tenant_namespace,
                                                   std::string_view cluster) {
  std::vector<kube::Object> found;
  if (tenant_namespace.empty()) return found;
  for (kube::Object& configuration : configurations.objects_in(tenant_namespace))
    if (configuration.label(api::labels::remote_cluster_id) == cluster) found.push_back(std::move(configuration));
  return found;
}

}  // namespace liqo::controllers
