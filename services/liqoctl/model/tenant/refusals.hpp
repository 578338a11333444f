// The requests of consumers that this cluster has refused, for people and for programs. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/admission/refusal_ring.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// A refusal, and the consumer that it is about.
struct ConsumerRefusal {
  std::string consumer;
  liqo::core::admission::RefusedObject refused;
};

/// The refusals in tenant namespaces at `since` or later, the newest first. ConfigMaps of other namespaces are ignored.
std::vector<ConsumerRefusal> refusals_since(const std::vector<kube::Object>& tenant_namespaces,
                                            const std::vector<kube::Object>& config_maps, kube::WallTime since);

/// The line if there is no refusal. `deployment`: that of liqod; null = unknown.
std::string no_refusals(const kube::Object* deployment);

/// A table with whole sentences.
std::string refusal_table(const std::vector<ConsumerRefusal>& refusals, kube::WallTime now);
kube::json::array refusal_list(const std::vector<ConsumerRefusal>& refusals);

}  // namespace liqoctl::model
