// The peering users of a provider, by their RoleBindings. Pure.
// Tested by test/unit/liqoctl/model/peer/peering_users_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The suffixes of the two RoleBindings of each peering user, after peering_user_name().
inline constexpr std::string_view reader_suffix = "-liqo-ns-reader", writer_suffix = "-tenant-ns-writer";

/// A user who can peer one consumer by a kubeconfig.
struct PeeringUser {
  std::string consumer;    ///< its cluster's ID
  std::string ns;          ///< the consumer's tenant namespace; "" if it may not write there any more
  std::string created;     ///< RFC 3339
  bool is_whole = false;   ///< otherwise it was half created or half deleted
  bool is_peered = false;  ///< the consumer has a Tenant
};
/// The users, by the RoleBindings with their label, in the order of the consumers.
std::vector<PeeringUser> peering_users(const std::vector<kube::Object>& bindings,
                                       const std::vector<kube::Object>& tenants);

/// As a table.
std::string listing(const std::vector<PeeringUser>& users, kube::WallTime now);
/// As `-o` prints them.
kube::json::array documents(const std::vector<PeeringUser>& users);

}  // namespace liqoctl::model
