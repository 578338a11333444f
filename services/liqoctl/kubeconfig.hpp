// Finding the kubeconfig as kubectl does.
#pragma once

#include "flags.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// The kubeconfig of `--kubeconfig`, of $KUBECONFIG (its first file that has the context), of ~/.kube/config, or the
/// service account of the pod that this runs in. With `remote`, the flags are those of the other cluster, and only
/// `--remote-kubeconfig` counts unless a context is named.
kube::Result<kube::wire::ClusterConfig> find_cluster(const ConnectionFlags& flags, bool remote);

}  // namespace liqoctl
