// Selectors of the objects of a peering, by their labels.
#pragma once

#include <string>
#include <string_view>

namespace liqoctl::model {

/// Of what is labelled with that peer's ID, such as VirtualNodes, Nodes, Tenants and credentials.
std::string about(std::string_view peer);

/// Of what is replicated to that provider.
std::string towards(std::string_view provider);

/// Of the RoleBindings and the request of a peering user.
std::string of_peering_user(std::string_view consumer);

}  // namespace liqoctl::model
