// Finding the kubeconfig as kubectl does.
#pragma once

#include "flags.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqoctl {

/// `--kubeconfig`, or the files of $KUBECONFIG (the first that has the context), or ~/.kube/config, or the service
/// account of the pod that this runs in. `prefix` is "--" or
/// "--remote-": how messages call the flags. $KUBECONFIG and the rest are not looked at for the remote cluster unless a
/// context of it is named.
kube::Result<kube::wire::ClusterConfig> find_cluster(const ConnectionFlags& flags, bool remote);

}  // namespace liqoctl
