// What the sources of the quota ledger share: the slack of expiries, and how the ConfigMap of a record is read.
#pragma once

#include <string>

#include "liqo/api/annotations.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::quota {

/// Beyond the API server's time-out, for clocks and scheduling.
inline constexpr kube::Duration expiry_slack = std::chrono::seconds(10);

/// Of the record in its ConfigMap.
inline std::size_t record_bytes(const kube::Object& config_map) {
  return kube::string_at(config_map.tree(), {"data", core::ledger_key}).size();
}

/// Whose record a ConfigMap is; an empty key where it does not say.
inline kube::ObjectKey quota_of(const kube::Object& config_map) {
  return kube::ObjectKey::parse(config_map.annotation(api::annotations::ledger_quota)).value_or(kube::ObjectKey());
}

}  // namespace liqo::quota
