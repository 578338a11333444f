// The state of a Quota: what it grants and how much of it is used. Also the sentence that refuses a demand which does
// not fit.
#pragma once

#include <string>

#include "core/common/resources.hpp"
#include "kube/k8s/resource.hpp"

namespace liqo::core {

/// What a ShadowPod is measured against.
struct QuotaState {
  kube::ObjectKey quota;
  Resources hard;
  Resources used;  ///< stored and reserved
};

/// Why the demand does not fit, naming the first resource that is short: what was asked, used, free, and of which
/// quota; "" if it fits. A resource that the quota does not name is refused unless nothing of it is asked; `pods` is
/// counted only if the quota names it. Without `figures` it names the quota and the resource, and not how much of it is
/// there.
std::string refuse_demand(const QuotaState& state, const Resources& demand, bool figures = true);

}  // namespace liqo::core
