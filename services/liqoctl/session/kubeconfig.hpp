// Finds the kubeconfig as kubectl does.
#pragma once

#include <string>

#include "command_line/flags.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// The kubeconfig of `--kubeconfig`, of $KUBECONFIG (its first file that has the context), or of ~/.kube/config, or the
/// service account of the pod that this runs in. Failures name the flags of `side`. A remote server that is named alone
/// gets only the credentials in other remote flags.
kube::Result<kube::wire::ClusterConfig> find_cluster(const ConnectionFlags& flags, Side side);

/// A sentence that says since when the client certificate of a kubeconfig has been expired, and what to do. "" if it is
/// valid, or there is none. For servers that do not know the user.
std::string describe_expiry(const kube::wire::ClusterConfig& config, kube::WallTime now);

}  // namespace liqoctl
