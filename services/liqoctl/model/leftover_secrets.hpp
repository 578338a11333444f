// Secrets that the Go version has copied into twins, and that nothing refers to.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/offloading/context.hpp"

namespace liqoctl::model {

/// Adds the names of the Secrets that an object refers to: a Pod, what makes pods of a template, an Ingress (with what
/// its annotations may name) or a ServiceAccount. Of others there are none.
void add_references(const kube::Object& object, std::set<std::string>& into);

/// Of the Secrets of one twin those that the Go version has copied from this consumer, and that liqod at home has not
/// taken over, as it does with each that is to be there; without those that something refers to, what brings tokens,
/// and what is being deleted.
std::vector<kube::Object> leftover_secrets(const std::vector<kube::Object>& secrets,
                                           const std::set<std::string>& referred,
                                           const liqo::core::ClusterPair& clusters);

}  // namespace liqoctl::model
