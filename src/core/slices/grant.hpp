// The grant of a provider to a ResourceSlice. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/slices/cordon.hpp"
#include "core/slices/policy.hpp"
#include "core/slices/record.hpp"
#include "core/slices/request.hpp"
#include "core/slices/share.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::core {

/// Reasons of the condition "Resources" that other programs know.
namespace slice_reasons {
inline constexpr std::string_view resources_accepted = "ResourceSliceResourcesAccepted";
inline constexpr std::string_view resources_denied = "ResourceSliceResourcesDenied";
inline constexpr std::string_view default_class_disabled = "DefaultResourceSliceClassDisabled";
inline constexpr std::string_view share_class_disabled = "ShareResourceSliceClassDisabled";
inline constexpr std::string_view authentication_accepted = "ResourceSliceAuthenticationAccepted";
inline constexpr std::string_view authentication_denied = "ResourceSliceAuthenticationDenied";
// Ours alone.
inline constexpr std::string_view invalid_request = "InvalidRequest";
/// The amounts that are asked for are refused; a drain has `resources_denied`.
inline constexpr std::string_view request_denied = "RequestDenied";
inline constexpr std::string_view cordoned = "ResourceSliceCordoned";
/// On slices of a custom class, so that our own denial is recognised and taken back when the tenant is active again.
inline constexpr std::string_view tenant_cordoned = "TenantCordoned";
inline constexpr std::string_view tenant_drained = "TenantDrained";
}  // namespace slice_reasons

/// The message beside the reason resources_accepted, as of the Go version.
inline constexpr std::string_view slice_accepted_message = "ResourceSlice resources accepted";

/// What a consumer has by one of its slices, which may be gone while its pods still end.
struct SliceHold {
  std::string name;  ///< of the slice; of one that is gone, its user
  Resources granted;
  Resources held;         ///< by its pods, stored or admitted
  bool is_quota = false;  ///< there is a Quota, or will be in a moment
};

/// The most that a consumer is granted by its policy; a resource that is not named is not bounded.
struct GrantLimits {
  Resources slice;                    ///< for one slice
  Resources consumer;                 ///< for all of its slices together
  Resources others;                   ///< what its other slices take of that: each the larger of grant and use
  std::string mistake;                ///< why the policy cannot be understood; nothing new is granted then
  std::vector<SliceHold> holds = {};  ///< what `others` is the sum of, for people to read
};

/// Adds what another slice takes. A Quota that does not name `pods` does not count them, so that its slice takes all
/// that the policy allows.
void take(GrantLimits& limits, SliceHold other);

/// Everything that the plan may depend on.
struct GrantInputs {
  const SliceRequest& request;
  const ReadPolicy& policy;
  api::TenantCondition tenant = api::TenantCondition::active;
  bool slice_cordoned = false, slice_drained = false;
  bool answered = false;                ///< for custom classes: their controller has decided already
  int sharing_percentage = 90;          ///< for this consumer
  int share_slices = 1;                 ///< slices of class "share" of this consumer, with this one
  const SliceRecord* record = nullptr;  ///< what is granted already; null = nothing
  const Resources* free = nullptr;      ///< for class "share"; null = not known yet
  GrantLimits limits{};
  std::optional<PendingShare> pending{};  ///< of the previous plan
  kube::TimePoint now{};
};

namespace grant_action {
/// What is free is not known yet.
struct Wait {};
struct Accept {
  std::string reason, message;               ///< of the condition
  SliceRecord record;                        ///< to be stored
  std::optional<PendingShare> pending = {};  ///< for GrantInputs of the next plan
  kube::Duration again_after{};              ///< when to decide again; 0 = when something changes
};
/// What was granted before stays as it is.
struct Deny {
  std::string reason, message;  ///< of the condition
};
/// Nothing is decided: the condition stays as it is, too.
struct Keep {};
/// Another controller decides.
struct Foreign {};
}  // namespace grant_action

using GrantPlan = std::variant<grant_action::Wait, grant_action::Accept, grant_action::Deny, grant_action::Keep,
                               grant_action::Foreign>;

/// What to do about the slice. A plan to accept holds what is granted by it, and no other plan takes anything away.
/// Limits bound what a grant adds to what is granted already.
GrantPlan plan_grant(const GrantInputs& inputs);

}  // namespace liqo::core
