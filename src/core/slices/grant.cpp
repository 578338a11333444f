#include "liqo/core/slices/grant.hpp"

#include <algorithm>

namespace liqo::core {
namespace {

using namespace grant_action;

constexpr std::string_view drained_text = "the provider has drained this cluster: it grants nothing, and its pods end";
constexpr std::string_view slice_drained_text =
    "the provider has drained this slice: it grants nothing, and its pods end";
constexpr std::string_view nothing_new_text =
    "the provider has cordoned this cluster or this slice: it grants nothing new";
constexpr std::string_view default_disabled_text =
    "the default ResourceSlice class has been administratively disabled on the provider";
constexpr std::string_view share_disabled_text =
    "the provider serves no slices of class share; ask its operator for the class to use";
constexpr std::string_view tenant_cordoned_text =
    "the provider has cordoned this cluster: what is granted stays, new pods are refused";
constexpr std::string_view slice_cordoned_text =
    "the provider has cordoned this slice: what is granted stays, new pods are refused";

Deny deny(std::string_view reason, std::string_view message) {
  return {.reason = std::string(reason), .message = std::string(message)};
}

/// A Quota of the Go version records the granted amounts but not the request. A request belongs to it if every amount
/// in it was granted unchanged.
bool explains(const SliceRequest& request, const Resources& granted) {
  return request.slice_class == default_class && std::ranges::all_of(request.resources, [&](const auto& entry) {
           const auto found = granted.find(entry.first);
           return found != granted.end() && found->second == entry.second;
         });
}

bool is_negotiated(const SliceRequest& request, const SliceRecord& record) {
  if (record.slice_class.empty()) return explains(request, record.granted);
  return record.slice_class == request.slice_class && record.request == request.resources;
}

Accept grant(const SliceRequest& request, Resources granted) {
  return {.reason = std::string(slice_reasons::resources_accepted),
          .message = std::string(slice_accepted_message),
          .record = SliceRecord{
              .slice_class = request.slice_class, .request = request.resources, .granted = std::move(granted)}};
}

/// The most of the resource that this slice can get; nullopt where it is not bounded.
std::optional<kube::Quantity> bound_of(const GrantLimits& limits, const std::string& name) {
  std::optional<kube::Quantity> bound;
  if (const auto found = limits.slice.find(name); found != limits.slice.end()) bound = found->second;
  if (const auto found = limits.consumer.find(name); found != limits.consumer.end()) {
    kube::Quantity left = found->second - amount(limits.others, name);
    if (left.sign() < 0) left = kube::Quantity(0, left.format());
    if (!bound || left < *bound) bound = left;
  }
  return bound;
}

/// Why the amounts are not granted, "" if they can be.
std::string refuse_amounts(const GrantLimits& limits, const Resources& granted) {
  for (const auto& [name, asked] : granted) {
    if (const auto most = limits.slice.find(name); most != limits.slice.end() && most->second < asked)
      return "the provider grants a slice of this cluster no more than " + most->second.text() + " of " + name +
             ", and this one would have " + asked.text() + ": ask for less, or its operator for more " +
             "(maxSliceResources in the policy)";
    const kube::Quantity others = amount(limits.others, name);
    if (const auto most = limits.consumer.find(name); most != limits.consumer.end() && most->second < others + asked)
      return "the provider grants all slices of this cluster together no more than " + most->second.text() + " of " +
             name + ", the others have " + others.text() + " and this one would have " + asked.text() +
             ": ask for less, or its operator for more (maxResources in the policy)";
  }
  return {};
}

GrantPlan plan_default(const GrantInputs& in, bool negotiated) {
  if (negotiated) return grant(in.request, in.record->granted);
  Resources granted = in.request.resources;
  for (const auto& [name, quantity] : in.policy.defaults) granted.emplace(name, quantity);
  std::string refusal = in.limits.mistake.empty() ? refuse_amounts(in.limits, granted) : in.limits.mistake;
  if (!refusal.empty()) return deny(slice_reasons::resources_denied, refusal);
  return grant(in.request, std::move(granted));
}

GrantPlan plan_share(const GrantInputs& in, bool negotiated) {
  if (!in.free) return negotiated ? GrantPlan(grant(in.request, in.record->granted)) : Wait{};
  // While the policy cannot be read, a slice keeps what it has and no other gets anything.
  if (!in.limits.mistake.empty())
    return negotiated ? GrantPlan(grant(in.request, in.record->granted))
                      : deny(slice_reasons::resources_denied, in.limits.mistake);
  Resources target = share_of(*in.free, in.sharing_percentage, in.request.resources, std::max(1, in.share_slices));
  // A share asks for no amount that could be too much, so it is cut at the bound and not refused.
  for (auto& [name, quantity] : target)
    if (auto bound = bound_of(in.limits, name); bound && *bound < quantity) quantity = *bound;
  if (!negotiated) return grant(in.request, std::move(target));
  ShareStep step = settle_share(in.record->granted, target, in.pending, in.now);
  Accept plan = grant(in.request, std::move(step.granted));
  plan.pending = std::move(step.pending);
  plan.again_after = step.again_after;
  return plan;
}

}  // namespace

GrantPlan plan_grant(const GrantInputs& in) {
  const SliceRequest& request = in.request;
  const bool custom = !is_built_in_class(request.slice_class);
  if (in.tenant == api::TenantCondition::drained || in.slice_drained)
    return deny(custom ? slice_reasons::tenant_drained : slice_reasons::resources_denied,
                in.tenant == api::TenantCondition::drained ? drained_text : slice_drained_text);
  if (custom) {
    if (in.tenant == api::TenantCondition::cordoned && !in.record && !in.answered)
      return deny(slice_reasons::tenant_cordoned, nothing_new_text);
    return Foreign{};
  }

  const bool negotiated = in.record && is_negotiated(request, *in.record);
  if (in.tenant == api::TenantCondition::cordoned || in.slice_cordoned) {
    if (!in.record) return deny(slice_reasons::resources_denied, nothing_new_text);
    if (!negotiated) return Keep{};
    Accept plan = grant(request, in.record->granted);
    plan.reason = slice_reasons::cordoned;
    plan.message = in.tenant == api::TenantCondition::cordoned ? tenant_cordoned_text : slice_cordoned_text;
    return plan;
  }
  if (request.slice_class == default_class && !in.policy.default_class_enabled)
    return deny(slice_reasons::default_class_disabled, default_disabled_text);
  if (request.slice_class == share_class && !in.policy.is_share_enabled())
    return deny(slice_reasons::share_class_disabled, share_disabled_text);
  if (!request.problem.empty()) return deny(slice_reasons::invalid_request, request.problem);
  return request.slice_class == share_class ? plan_share(in, negotiated) : plan_default(in, negotiated);
}

}  // namespace liqo::core
