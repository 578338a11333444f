// The replicas of one cluster at a provider.
#pragma once

#include "core/peering/replication.hpp"
#include "kube/runtime/informer.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

/// The replicas of a kind that this cluster has made in its tenant namespace at the provider.
inline kube::InformerScope scope_of_replicas(const core::ReplicationPeer& peer, const kube::Resource& resource) {
  return {.resource = resource,
          .ns = peer.remote_namespace,
          .selection = {.label_selector = kube::label_is(api::labels::replication_origin, peer.local) + "," +
                                          kube::label_is(api::labels::replicated)}};
}

}  // namespace liqo::controllers
