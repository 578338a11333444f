// Label selectors for the objects of a peering, and the name and label of a peering user.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::model {

/// Selects the objects with that peer's ID, such as VirtualNodes, Nodes, Tenants and credentials.
std::string about(std::string_view peer);

/// Selects the objects that are replicated to that provider.
std::string towards(std::string_view provider);

/// Selects the kubeconfig Secrets by which control planes reach each other.
std::string control_plane_secrets();

/// The label of the objects of a peering user. Its value is the user's name.
inline constexpr std::string_view peering_user_label = "liqo.io/peering-user-name";
/// The name of the peering user of a consumer.
std::string peering_user_name(std::string_view consumer);
/// Selects the RoleBindings and the certificate request of a peering user.
std::string of_peering_user(std::string_view consumer);

}  // namespace liqoctl::model
