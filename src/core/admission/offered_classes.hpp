// The classes of this cluster that a consumer was offered.
// Tested by test/unit/core/admission/claims_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::admission {

/// Names of classes, by what they are for.
struct OfferedClasses {
  std::vector<std::string> storage, ingress, load_balancer;

  bool empty() const { return storage.empty() && ingress.empty() && load_balancer.empty(); }
  /// Adds the classes of another slice.
  void add(const OfferedClasses& other);
};

/// The classes that a ResourceSlice was granted, by its status.
OfferedClasses offered_classes(const kube::Object& slice);

}  // namespace liqo::core::admission
