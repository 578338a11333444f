// The consumer's ResourceSlice: what Liqo fills in.
// Tested by test/unit/core/slices/objects_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "kube/k8s/object.hpp"

namespace liqo::core {

namespace local_slice_action {
/// All is filled in.
struct Keep {};
struct Patch {
  kube::json::object patch;  ///< merge patch with the resourceVersion
};
/// The slice is left as it is.
struct Refuse {
  std::string message;  ///< one sentence for the user
};
}  // namespace local_slice_action

/// What is to be done about a slice that was created at home.
using LocalSlicePlan = std::variant<local_slice_action::Keep, local_slice_action::Patch, local_slice_action::Refuse>;

/// Fills in the IDs of consumer and provider and the labels of replication, and sets the signing request (base64 of
/// PEM) to `csr`, if one is given. `provider` is the cluster of the slice's tenant namespace; "" = the namespace is
/// none. Other values are never changed; a slice whose values contradict these is refused.
LocalSlicePlan plan_local_slice(const kube::Object& slice, std::string_view own_cluster, std::string_view provider,
                                std::string_view csr);

}  // namespace liqo::core
