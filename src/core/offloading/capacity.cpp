#include "core/offloading/capacity.hpp"

#include <algorithm>
#include <span>

#include "core/offloading/pod_status.hpp"
#include "core/quota/pod_requests.hpp"
#include "core/slices/denial.hpp"
#include "core/slices/grant.hpp"
#include "kube/base/quantity.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace {

// Words of refusals for lack of room, by this version and by the Go version.
constexpr std::string_view room_words[] = {" has not enough ",
                                           " is cordoned",
                                           " is drained",
                                           " has been withdrawn",
                                           "there is no quota for user ",
                                           "(maxShadowPods in the policy)",
                                           "this cluster stores as many pods of the consumer as it may have",
                                           "(maxShadowPodBytes in the policy)",
                                           "quota usage exceeded",
                                           "failed getting quota"};
// Words of refusals by API servers.
constexpr std::string_view rights_words[] = {"cannot create resource \"shadowpods\"", "is being terminated",
                                             "namespaces \""};

bool says_one_of(const kube::Failure& refusal, std::span<const std::string_view> parts) {
  if (!refusal.is_forbidden() && !refusal.is_not_found()) return false;
  const std::string words = refusal_words(refusal);
  return std::ranges::any_of(parts, [&](std::string_view part) { return words.contains(part); });
}

/// Whether the amount is there, and is 0.
bool grants_none(const kube::json::object& granted, std::string_view name) {
  const kube::json::value* value = granted.if_contains(name);
  if (!value) return false;
  const auto amount = kube::Quantity::from_json(*value);
  return amount && amount->is_zero();
}

}  // namespace

bool is_for_lack_of_room(const kube::Failure& refusal) { return says_one_of(refusal, room_words); }

bool is_for_lack_of_rights(const kube::Failure& refusal) { return says_one_of(refusal, rights_words); }

Resources scheduled_demand(const kube::Object& pod) {
  const auto needs = read_pod_needs(pod.spec());
  if (!needs) return {};
  Resources demand = pod_requests(*needs);
  demand["pods"] = kube::Quantity(1);
  return demand;
}

std::string why_too_large(const Resources& demand, const Resources& allocatable) {
  for (const auto& [name, asked] : demand) {
    const auto most = allocatable.find(name);
    if (most == allocatable.end() || asked <= most->second) continue;
    return "it asks for " + asked.readable() + " of " + name + ", and the node has " + most->second.readable() +
           " in all";
  }
  return {};
}

Closed why_closed(const kube::Object* slice, bool no_room, bool silent) {
  const auto said = slice ? api::ResourceSlice(*slice).condition(api::slice_conditions::resources) : std::nullopt;
  if (said && said->status == api::slice_conditions::denied && !keeps_grant(*slice)) return Closed::denied;
  if (said && said->reason == slice_reasons::cordoned) return Closed::cordoned;
  if (said) {
    // A share follows what is free, or what its provider gives away, to 0.
    const kube::json::object& granted = api::ResourceSlice(*slice).granted();
    if (grants_none(granted, "cpu") || grants_none(granted, "memory")) return Closed::nothing_granted;
  }
  if (silent) return Closed::silent;
  return no_room ? Closed::full : Closed::no;
}

std::string_view closed_word(Closed why) {
  switch (why) {
    case Closed::no:
      return "";
    case Closed::denied:
      return "denied";
    case Closed::cordoned:
      return "cordoned";
    case Closed::nothing_granted:
      return "nothing-granted";
    case Closed::silent:
      return "silent";
    case Closed::full:
      return "full";
  }
  return "";
}

}  // namespace liqo::core
