#include "core/slices/grant.hpp"

#include <algorithm>

#include "core/slices/provider_words.hpp"

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
constexpr std::string_view share_disabled_text = "the provider serves no slices of class share";
constexpr std::string_view nothing_shared_text =
    "the provider shares nothing of what is free (its sharing percentage is 0)";
constexpr std::string_view tenant_cordoned_text =
    "the provider has cordoned this cluster: what is granted stays, new pods are refused";
constexpr std::string_view slice_cordoned_text =
    "the provider has cordoned this slice: what is granted stays, new pods are refused";

constexpr std::string_view request_waits_text = "; what has changed in the request is answered when that ends";
constexpr std::string_view kept_text = "; what was granted before stays";

/// `advice`: to the consumer, which in_provider_words() knows.
Deny deny(std::string_view reason, std::string_view message, std::string_view advice = {}) {
  return {.reason = std::string(reason), .message = std::string(message) + std::string(advice)};
}

/// Denies what is asked for now; what is granted already stays.
Deny deny_request(const GrantInputs& in, std::string_view reason, std::string_view message) {
  Deny denial = deny(reason, message);
  if (in.record) denial.message.append(kept_text).append(slice_advice::set_back);
  return denial;
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

/// The most of the resource that this slice can get; nullopt if it is not bounded.
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

/// The most slices that are named if a grant is refused for what they have.
constexpr std::size_t max_named = 4;

/// Whether nothing bounds how much of the resource the slice may come to have.
bool is_unbounded(const SliceHold& hold, std::string_view name) {
  return name == "pods" && hold.is_quota && !hold.granted.contains(name);
}

/// What a slice takes of a resource in its policy's bound.
kube::Quantity taken(const SliceHold& hold, std::string_view name) {
  return std::max(amount(hold.granted, name), amount(hold.held, name));
}

/// Who has the others' amount of the resource, as an insertion; "" if that is not known.
std::string describe_holds(const GrantLimits& limits, const std::string& name) {
  std::vector<const SliceHold*> takers;
  for (const SliceHold& hold : limits.holds)
    if (is_unbounded(hold, name) || taken(hold, name).sign() > 0) takers.push_back(&hold);
  std::ranges::sort(takers, [&](const auto* a, const auto* b) {
    const kube::Quantity of_a = taken(*a, name), of_b = taken(*b, name);
    return of_a != of_b ? of_b < of_a : a->name < b->name;
  });
  std::string words;
  for (std::size_t i = 0; i < takers.size() && i < max_named; ++i) {
    const SliceHold& hold = *takers[i];
    words += (words.empty() ? "" : ", ") + hold.name + " ";
    const kube::Quantity granted = amount(hold.granted, name), held = amount(hold.held, name);
    if (is_unbounded(hold, name))
      words += "without a bound";
    else if (held <= granted)
      words += granted.text();
    else
      words += held.text() + " by its pods, granted " + (hold.is_quota ? granted.text() : "nothing any more");
  }
  if (takers.size() > max_named) words += " and " + std::to_string(takers.size() - max_named) + " more";
  return words.empty() ? "" : " (" + words + ")";
}

/// What helps if the others have too much.
std::string_view remedy(const GrantLimits& limits, const std::string& name) {
  const bool is_use = std::ranges::any_of(
      limits.holds, [&](const SliceHold& hold) { return amount(hold.granted, name) < amount(hold.held, name); });
  return is_use ? slice_advice::ask_for_less_or_wait : slice_advice::ask_for_less;
}

/// Why the amounts are not granted, "" if they can be. What the slice has already is not refused.
std::string refuse_amounts(const GrantLimits& limits, const Resources& granted, const SliceRecord* record) {
  for (const auto& [name, asked] : granted) {
    if (record && record->granted.contains(name) && asked <= amount(record->granted, name)) continue;
    if (const auto most = limits.slice.find(name); most != limits.slice.end() && most->second < asked)
      return "the provider grants a slice of this cluster no more than " + most->second.text() + " of " + name +
             ", and this one would have " + asked.text() + std::string(slice_advice::ask_for_less_of_slice);
    const kube::Quantity others = amount(limits.others, name);
    if (const auto most = limits.consumer.find(name); most != limits.consumer.end() && most->second < others + asked)
      return "the provider grants all slices of this cluster together no more than " + most->second.text() + " of " +
             name + ", the others have " + others.text() + describe_holds(limits, name) + " and this one would have " +
             asked.text() + std::string(remedy(limits, name));
  }
  return {};
}

/// A Quota that does not name `pods` does not count them: if the policy bounds them, a slice that names none gets what
/// is left. Returns why there is nothing left, "" if there is.
std::string name_pods(const GrantLimits& limits, Resources& granted) {
  static const std::string pods = "pods";
  const auto left = bound_of(limits, pods);
  if (!left || granted.contains(pods)) return {};
  if (left->sign() <= 0)
    return "the provider bounds the pods of this cluster, and nothing is left for a slice that does not say how many "
           "it is to have: the others have " +
           amount(limits.others, pods).text() + describe_holds(limits, pods) + std::string(slice_advice::name_pods);
  granted.emplace(pods, *left);
  return {};
}

GrantPlan plan_default(const GrantInputs& in, bool negotiated) {
  if (negotiated) return grant(in.request, in.record->granted);
  Resources granted = in.request.resources;
  for (const auto& [name, quantity] : in.policy.defaults) granted.emplace(name, quantity);
  std::string refusal = in.limits.mistake;
  if (refusal.empty()) refusal = name_pods(in.limits, granted);
  if (refusal.empty()) refusal = refuse_amounts(in.limits, granted, in.record);
  if (!refusal.empty()) return deny_request(in, slice_reasons::request_denied, refusal);
  return grant(in.request, std::move(granted));
}

GrantPlan plan_share(const GrantInputs& in, bool negotiated) {
  if (!in.free) return negotiated ? GrantPlan(grant(in.request, in.record->granted)) : Wait{};
  // While the policy cannot be read, a slice keeps what it has and no other gets anything.
  if (!in.limits.mistake.empty())
    return negotiated ? GrantPlan(grant(in.request, in.record->granted))
                      : deny_request(in, slice_reasons::request_denied, in.limits.mistake);
  // A slice that has a share already follows it to nothing.
  if (in.sharing_percentage == 0 && !in.record)
    return deny(slice_reasons::share_class_disabled, nothing_shared_text, slice_advice::ask_for_class);
  Resources target = share_of(*in.free, in.sharing_percentage, in.request.resources, std::max(1, in.share_slices));
  // A share asks for no amount that could be too much, so it is cut at the bound and not refused. What it has already
  // stays: two slices that each had to leave room for the other's pods would push each other to nothing.
  for (auto& [name, quantity] : target) {
    auto bound = bound_of(in.limits, name);
    if (bound && in.record) bound = std::max(*bound, amount(in.record->granted, name));
    if (bound && *bound < quantity) quantity = *bound;
  }
  if (!negotiated) return grant(in.request, std::move(target));
  ShareStep step = settle_share(in.record->granted, target, in.pending, in.now);
  Accept plan = grant(in.request, std::move(step.granted));
  plan.pending = std::move(step.pending);
  plan.again_after = step.again_after;
  return plan;
}

}  // namespace

void take(GrantLimits& limits, SliceHold other) {
  Resources takes = other.granted;
  raise(takes, other.held);
  if (const auto pods = limits.consumer.find("pods"); pods != limits.consumer.end() && is_unbounded(other, "pods"))
    raise(takes, {{"pods", pods->second}});
  add(limits.others, takes);
  limits.holds.push_back(std::move(other));
}

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
    Accept plan = grant(request, in.record->granted);
    plan.reason = slice_reasons::cordoned;
    plan.message = in.tenant == api::TenantCondition::cordoned ? tenant_cordoned_text : slice_cordoned_text;
    if (negotiated) return plan;
    // The changed request stays one: it is answered when the cordon ends, and a denial before it does not hide the
    // cordon.
    plan.record = *in.record;
    plan.message += request_waits_text;
    return plan;
  }
  // The value of a setting that cannot be read is not known: the default does not take its place.
  if (const std::string mistake = in.policy.mistake(); !mistake.empty())
    return negotiated ? GrantPlan(grant(request, in.record->granted))
                      : deny_request(in, slice_reasons::request_denied, mistake);
  if (request.slice_class == default_class && !in.policy.default_class_enabled)
    return deny(slice_reasons::default_class_disabled, default_disabled_text);
  if (request.slice_class == share_class && !in.policy.is_share_enabled())
    return deny(slice_reasons::share_class_disabled, share_disabled_text, slice_advice::ask_for_class);
  if (!request.problem.empty()) return deny_request(in, slice_reasons::invalid_request, request.problem);
  return request.slice_class == share_class ? plan_share(in, negotiated) : plan_default(in, negotiated);
}

}  // namespace liqo::core
