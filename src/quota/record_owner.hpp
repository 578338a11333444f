// Finds the Quota to which a record of the quota ledger belongs.
#pragma once

#include "kube/k8s/object.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::quota {

/// The Quota of the record; an empty key if the ConfigMap names none.
inline kube::ObjectKey owner_of(const kube::Object& record) {
  return kube::ObjectKey::parse(record.annotation(api::annotations::ledger_quota)).value_or(kube::ObjectKey());
}

}  // namespace liqo::quota
