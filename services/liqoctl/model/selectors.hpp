// Selectors of the objects of a peering, by their labels, and the name and label of a peering user.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::model {

/// Of what is labelled with that peer's ID, such as VirtualNodes, Nodes, Tenants and credentials.
std::string about(std::string_view peer);

/// Of what is replicated to that provider.
std::string towards(std::string_view provider);

/// Of the kubeconfig Secrets by which control planes reach each other.
std::string control_plane_secrets();

/// The label of what belongs to a peering user; its value is the user's name.
inline constexpr std::string_view peering_user_label = "liqo.io/peering-user-name";
/// The name of the peering user of a consumer.
std::string peering_user_name(std::string_view consumer);
/// Of the RoleBindings and the request of a peering user.
std::string of_peering_user(std::string_view consumer);

}  // namespace liqoctl::model
