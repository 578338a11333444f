// The meaning of a denied slice for its consumer: whether what was granted before goes on.
// Tested by test/unit/core/offloading/capacity_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether the provider denies only what the slice asks for now, and what it granted before goes on: the Quota is open,
/// and the Node takes pods. Known by the reason of the condition, because drains deny a slice, too.
bool keeps_grant(const kube::Object& slice);

/// For people at the consumer, if keeps_grant(): what is denied in the provider's words, what goes on, and what to do;
/// nothing for any other slice.
std::optional<std::string> denied_request_text(const kube::Object& slice);

}  // namespace liqo::core
