// Pods of the account `default` that get no token of home although it has rights there. Pure.
// Tested by test/unit/core/offloading/token_secrets_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the pod mounts a token for home's API server and gets none because it runs as `default`, as every pod does
/// that says nothing, and is not annotated to need one.
bool misses_token_of_default(const kube::Object& local_pod, const ForgingContext& ctx);

/// Whether a RoleBinding gives rights to the account `default` of its namespace.
bool binds_default_account(const kube::Object& binding);

/// The sentence of the Event of such a pod.
std::string describe_missing_token(const kube::Object& binding, const ClusterPair& clusters);

}  // namespace liqo::core
