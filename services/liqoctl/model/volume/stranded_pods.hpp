// The pods that will find no node once the volume of a claim is in another cluster, as pure functions.
// Tested by test/unit/liqoctl/model/volume/stranded_pods_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Whether pods of a namespace may run on the node; `offloading`: its NamespaceOffloading, null = there is none.
bool may_run_on(const kube::Object& node, const kube::Object* offloading);

/// The objects that make pods which use the claim, such as "StatefulSet db", among these StatefulSets and Deployments.
std::vector<std::string> makers_of(const std::vector<kube::Object>& workloads, std::string_view claim);

/// The sentence about pods that will find no node at the volume's new place, and what helps them; "" = all find one.
std::string describe_stranded(const kube::Object& node, const kube::ObjectKey& claim, const kube::Object* offloading,
                              const std::vector<std::string>& makers);

}  // namespace liqoctl::model
