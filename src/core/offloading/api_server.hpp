// How an offloaded pod reaches the API server of its home: volumes, environment and host aliases.
// Tested by test/unit/core/offloading/shadow_pod_test.cpp.
#pragma once

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Renames the root CA and replaces or removes service-account tokens in the projected volumes of a remote pod spec.
void adapt_volumes(kube::json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx);
/// Gives the containers of a remote pod spec the address of the home API server.
void adapt_environment(kube::json::object& pod_spec, const ForgingContext& ctx);
/// Names the home API server in the host aliases of a remote pod spec: `kubernetes.default` and longer if a network
/// gives it an address there. If its host is given, only `kubernetes.default.svc` and longer, and only if the host is
/// an IP address and the port 443.
void adapt_host_aliases(kube::json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx);
/// Whether a pod names `kubernetes.default` in a command, an argument or a variable other than NO_PROXY, although its
/// host aliases do not: this is the provider's API server there, which knows no token of home.
bool asks_provider_by_name(const kube::Object& local_pod, const ForgingContext& ctx);

}  // namespace liqo::core
