// Finding the kubeconfig as kubectl does.
#pragma once

#include <string>

#include "command_line/flags.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// The kubeconfig of `--kubeconfig`, of $KUBECONFIG (its first file that has the context), of ~/.kube/config, or the
/// service account of the pod that this runs in. `side` is whose flags these are: a failure names them, and a remote
/// server that is named alone is asked only by what other remote flags say.
kube::Result<kube::wire::ClusterConfig> find_cluster(const ConnectionFlags& flags, Side side);

/// Since when the client certificate of a kubeconfig has been out of date, as a sentence that says what to do; "" where
/// it is not, or there is none. For servers that do not know the user.
std::string describe_expiry(const kube::wire::ClusterConfig& config, kube::WallTime now);

}  // namespace liqoctl
