// Finding the kubeconfig as kubectl does.
#pragma once

#include "flags.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// `--kubeconfig`, or the files of $KUBECONFIG (the first that has the context), or ~/.kube/config, or the service
/// account of the pod that this runs in. `remote`: the flags are those of the other cluster, for which $KUBECONFIG and
/// the rest are not looked at unless a context of it is named.
kube::Result<kube::wire::ClusterConfig> find_cluster(const ConnectionFlags& flags, bool remote);

}  // namespace liqoctl
