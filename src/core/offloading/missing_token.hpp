// Pods that get no token of home although their account has rights there. Pure.
// Tested by test/unit/core/offloading/missing_token_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Why a pod that mounts a token for home's API server gets none, although its annotation does not say so.
enum class MissingToken {
  none,          ///< it gets one, mounts none, or wants none
  of_default,    ///< it runs as `default`, as every pod does that says nothing
  switched_off,  ///< no pod of this virtual node gets one
  no_address,    ///< pods at the provider do not know the address of home's API server
};
MissingToken why_token_missing(const kube::Object& local_pod, const ForgingContext& ctx);

/// The service accounts that have rights, each with the name of a binding that gives it some.
using BoundAccounts = std::map<kube::ObjectKey, std::string>;
/// Adds the accounts that a RoleBinding or ClusterRoleBinding names. Groups do not count: some platforms bind the group
/// of all accounts in each namespace.
void add_bound_accounts(const kube::Object& binding, BoundAccounts& bound);
/// The name of a binding that gives rights to an account; "" = there is none.
std::string binding_of(const BoundAccounts& bound, const kube::ObjectKey& account);

/// An account that has rights which its pods elsewhere cannot use.
struct MissedRights {
  kube::ObjectKey account;
  std::string binding;  ///< e.g. "RoleBinding flows"
  bool by_template =
      false;  ///< the VkOptionsTemplate of the virtual node has switched tokens off, not the installation
};
/// The sentence of the Event.
std::string describe_missing_token(MissingToken why, const MissedRights& missed, const ClusterPair& clusters);

}  // namespace liqo::core
