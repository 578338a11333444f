// Credentials that a program of the user's makes (client.authentication.k8s.io), as cloud providers have them.
#pragma once

#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// Runs the plugin of the configuration and puts the token or certificate that it answers in its place. The plugin has
/// this process' terminal. Errors: Errc::missing (it cannot be run), Errc::invalid_input (it fails, or its answer is no
/// ExecCredential).
kube::Result<void> run_exec_plugin(kube::wire::ClusterConfig& config);

}  // namespace liqoctl
