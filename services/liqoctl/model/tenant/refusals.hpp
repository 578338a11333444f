// What this cluster has refused its consumers, for people and for programs. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/admission/refusal_ring.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// One of them, and whose it is.
struct ConsumerRefusal {
  std::string consumer;
  liqo::core::admission::RefusedObject refused;
};

/// Those of the tenant namespaces that were refused at `since` or later, the newest first. ConfigMaps of other
/// namespaces are nobody's.
std::vector<ConsumerRefusal> refusals_since(const std::vector<kube::Object>& tenant_namespaces,
                                            const std::vector<kube::Object>& config_maps, kube::WallTime since);

/// What is said where there is none. `deployment`: of liqod; null = it is not known.
std::string no_refusals(const kube::Object* deployment);

/// A table with whole sentences.
std::string refusal_table(const std::vector<ConsumerRefusal>& refusals, kube::WallTime now);
kube::json::array refusal_list(const std::vector<ConsumerRefusal>& refusals);

}  // namespace liqoctl::model
