// Secrets that the Go version copied into twins, and that nothing refers to.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Adds the names of the Secrets that an object refers to: a Pod, an object with a template of pods, an Ingress (with
/// the names in its annotations) or a ServiceAccount. Other objects refer to none.
void add_references(const kube::Object& object, std::set<std::string>& into);

/// The Secrets of one twin that the Go version copied from this consumer and that nothing needs. Excluded are those
/// that liqod has taken over, that an object refers to, that hold tokens, or that are being deleted.
std::vector<kube::Object> leftover_secrets(const std::vector<kube::Object>& secrets,
                                           const std::set<std::string>& referred,
                                           const liqo::core::ClusterPair& clusters);

}  // namespace liqoctl::model
