// Which kinds of Liqo have one history with those of Kubernetes.
#pragma once

#include "kube/runtime/informer_set.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

/// Tells the caches of a cluster that Liqo's own kinds, as custom resources, are stored in one database with the
/// built-in ones, so that after an interruption one witness speaks for all of them. Events are left out, because
/// clusters may keep them in another etcd, and so are custom resources that users have reflected: their groups are not
/// known, and each kind asks for itself.
inline void share_history(kube::InformerSet& caches) {
  for (const kube::Resource& kind : {api::kinds::virtual_nodes, api::kinds::foreign_clusters, api::kinds::tenants,
                                     api::kinds::ips, api::kinds::configurations})
    caches.share_history(kind.group);
}

}  // namespace liqo::controllers
