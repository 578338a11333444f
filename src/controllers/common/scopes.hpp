// Informer scopes that several reconcilers use: informers of one set are shared if their scopes are equal.
#pragma once

#include <string>

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// The nodes of this cluster that are machines, with the fields that decide who may use them and how much they have.
kube::InformerScope scope_of_machines();
/// The Nodes of virtual nodes.
kube::InformerScope scope_of_virtual_nodes();
/// The Pods that were made here for ShadowPods of consumers.
kube::InformerScope scope_of_consumer_pods();
/// The Pods that are bound to a node, by its name.
kube::InformerScope scope_of_pods_on(const std::string& node);

}  // namespace liqo::controllers
