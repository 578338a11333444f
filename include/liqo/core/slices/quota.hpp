// The Quota of a slice: made, kept as it is wanted, and shown to people.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/object.hpp"
#include "liqo/core/slices/record.hpp"

namespace liqo::core {

/// What the Quota of a slice is to say.
struct QuotaWish {
  std::string user;         ///< of the slice's certificate; also the Quota's name
  std::string enforcement;  ///< "None", "Soft" or "Hard"
  bool cordoned = false;
  bool drained = false;               ///< the pods that it counts are to end
  std::optional<SliceRecord> record;  ///< what is granted; nothing = the amounts that it has stay
};

/// The Quota to create beside the slice, which owns it. `wish.record` is set.
kube::Object forge_quota(const kube::Object& slice, const QuotaWish& wish);

/// The merge patch that makes the Quota as wished; it carries the resourceVersion. Nothing where it is so already.
/// Amounts that are equal are left as they are written.
std::optional<kube::json::object> plan_quota_update(const kube::Object& quota, const kube::Object& slice,
                                                    const QuotaWish& wish);

/// Whether the Quota belongs to another slice than this one: to an earlier one of its name, or to somebody else.
bool is_quota_of_another(const kube::Object& quota, const kube::Object& slice);

/// What a Quota shows of its use. Nothing is decided by it.
struct QuotaUsage {
  Resources used;      ///< by pods that are stored
  Resources reserved;  ///< for pods that were admitted and are not seen stored yet
  std::int64_t pods = 0;
};

/// The merge patch of the Quota's status, for this very Quota (its UID), or nothing where it shows this already. Used
/// is shown of everything that the Quota bounds, also where it is zero; reserved only while there is something.
std::optional<kube::json::object> plan_quota_status(const kube::Object& quota, const QuotaUsage& usage);

}  // namespace liqo::core
