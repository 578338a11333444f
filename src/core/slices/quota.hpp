// The Quota of a slice: its creation, its updates and its status.
// Tested by test/unit/core/slices/objects_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "core/slices/record.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What the Quota of a slice is to contain.
struct QuotaWish {
  std::string user;         ///< of the slice's certificate; also the Quota's name
  std::string enforcement;  ///< "None", "Soft" or "Hard"
  bool cordoned = false;
  bool drained = false;               ///< the pods that it counts are ended
  std::optional<SliceRecord> record;  ///< what is granted; unset = the amounts of the Quota stay
};

/// The Quota to create beside the slice, which owns it. `wish.record` is set.
kube::Object forge_quota(const kube::Object& slice, const QuotaWish& wish);

/// The merge patch that makes the Quota as wished; it carries the resourceVersion. Nothing if it is so already. Equal
/// amounts keep their spelling.
std::optional<kube::json::object> plan_quota_update(const kube::Object& quota, const kube::Object& slice,
                                                    const QuotaWish& wish);

/// Whether the Quota belongs to an earlier slice of the same name, or to somebody else.
bool is_quota_of_another(const kube::Object& quota, const kube::Object& slice);

/// The use that a Quota shows to people. No decision depends on it.
struct QuotaUsage {
  Resources used;      ///< by pods that are stored
  Resources reserved;  ///< for pods that are admitted and were not seen stored yet
  std::int64_t pods = 0;
};

/// The merge patch of the Quota's status, with its UID; nothing if it shows this already. `used` is shown for each
/// resource that the Quota bounds, also if it is zero; `reserved` only if it is not.
std::optional<kube::json::object> plan_quota_status(const kube::Object& quota, const QuotaUsage& usage);

}  // namespace liqo::core
