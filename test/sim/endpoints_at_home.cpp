#include "endpoints_at_home.hpp"

#include "liqo/api/labels.hpp"

namespace liqo::sim {

std::string EndpointsAtHome::cluster_of(std::string_view node) const {
  const Tree found = home_.server.get(kube::resources::nodes, {"", std::string(node)});
  if (!found || kube::string_at(*found, {"metadata", "labels", api::labels::type}) != api::labels::type_virtual_node)
    return {};
  return std::string(kube::string_at(*found, {"metadata", "labels", api::labels::remote_cluster_id}));
}

std::optional<kube::Object> EndpointsAtHome::service(std::string_view ns, std::string_view name) const {
  const Tree found = home_.server.get(kube::resources::services, {std::string(ns), std::string(name)});
  return found ? std::optional<kube::Object>(*found) : std::nullopt;
}

}  // namespace liqo::sim
