// Declares which kinds of Liqo share their history with those of Kubernetes.
#pragma once

#include "kube/runtime/informer_set.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

/// Declares to the caches of a cluster that Liqo's own kinds are stored in the same database as the built-in ones:
/// after an interruption one witness of the history then serves all of them. Events are left out, because clusters may
/// keep them in another etcd. So are custom resources that users have reflected: their groups are not known, and each
/// kind has its own witness.
inline void share_history(kube::InformerSet& caches) {
  for (const kube::Resource& kind : {api::kinds::virtual_nodes, api::kinds::foreign_clusters, api::kinds::tenants,
                                     api::kinds::ips, api::kinds::configurations})
    caches.share_history(kind.group);
}

}  // namespace liqo::controllers
