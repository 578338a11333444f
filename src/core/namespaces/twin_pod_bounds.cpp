#include "core/namespaces/twin_pod_bounds.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "core/common/names.hpp"
#include "core/namespaces/resource_quota.hpp"
#include "core/namespaces/twin_quota.hpp"
#include "core/quota/demand.hpp"
#include "core/quota/quota_user.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

using Units = std::int64_t;
__extension__ using Wide = __int128;

constexpr std::string_view requests_prefix = "requests.", limits_prefix = "limits.", count_prefix = "count/";
/// The sum over a thousand twins stays far from the end of 64 bits.
constexpr Units max_units = Units{1} << 52;
constexpr Units unbounded = max_units;

bool is_milli(std::string_view name) { return name == "requests.cpu" || name == "limits.cpu"; }

/// Whole units (of cpu: thousandths), rounded up.
Units units(std::string_view name, const kube::Quantity& amount) {
  return std::clamp<Units>(is_milli(name) ? amount.milli_value() : amount.value(), 0, max_units);
}
kube::Quantity quantity(std::string_view name, Units amount) {
  if (is_milli(name)) return kube::Quantity::parse(std::to_string(amount) + "m").value_or(kube::Quantity());
  return kube::Quantity(amount, name.ends_with("memory") || name.ends_with("storage")
                                    ? kube::Quantity::Format::binary
                                    : kube::Quantity::Format::decimal);
}
Units units_of(const Resources& resources, const std::string& name) { return units(name, amount(resources, name)); }
/// Granted amounts are rounded down, so that the twins together never get more.
Units floor_of(const Resources& resources, const std::string& name) {
  const kube::Quantity granted = amount(resources, name);
  const Units up = units(name, granted);
  return quantity(name, up) > granted ? up - 1 : up;
}

/// The most resources that are bounded. `read_resources` fails on a list that is too long, and a ResourceQuota that
/// cannot be read would look like one without bounds.
constexpr std::size_t max_bounded = 64;

/// The name that ResourceQuotas have for a resource of pods, "" if they cannot count it.
std::string quota_name(std::string_view resource) {
  if (resource == "pods") return "pods";
  const bool is_extended = resource.contains('/') && !resource.starts_with("kubernetes.io/") &&
                           !resource.substr(0, resource.find('/')).ends_with(".kubernetes.io");
  if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-") || is_extended) {
    // The API server refuses a ResourceQuota with a single invalid name, and the prefix may make the name too long.
    std::string name = std::string(requests_prefix) + std::string(resource);
    return is_label_key(name) ? name : "";
  }
  return "";
}

/// The amounts of one twin and one resource.
struct Share {
  const TwinPods* twin;
  bool counted = false, written = false;
  Units hard = 0;     ///< as written; `unbounded` if the ResourceQuota does not name it
  Units used = 0;     ///< as counted by Kubernetes, or the demand of all ShadowPods before that
  Units waiting = 0;  ///< what ShadowPods need beyond `used`
  Units held = 0;     ///< the most that can be in use before the next write to the ResourceQuota
  Units target = 0;
  Units base() const { return used + waiting; }
  bool takes_more() const { return !twin->leaving; }
};

Share share_of(const TwinPods& twin, const std::string& name) {
  Share share{.twin = &twin};
  const auto hard = twin.hard.find(name);
  share.written = twin.exists && hard != twin.hard.end();
  share.hard = share.written ? units(name, hard->second) : twin.exists ? unbounded : 0;
  share.counted = twin.exists && twin.admitted.contains(name) && twin.used.contains(name);
  share.used = share.counted ? units_of(twin.used, name) : units_of(twin.whole, name);
  share.waiting = share.counted ? units_of(twin.waiting, name) : 0;
  if (twin.leaving) {
    share.hard = share.waiting = 0;
    share.held = share.used;
    return share;
  }
  share.held = share.counted ? std::max(share.used, units_of(twin.admitted, name)) : share.used;
  if (share.written) share.held = std::max(share.held, share.hard);
  return share;
}

/// Sets the target of each twin, and returns the equal share of what no pod needs.
Units aim(std::vector<Share>& shares, Units granted) {
  Units used = 0, waiting = 0, takers = 0;
  for (const Share& share : shares) {
    used += share.used;
    waiting += share.waiting;
    takers += share.takes_more() ? 1 : 0;
  }
  const Units free = granted - used - waiting;
  if (free >= 0 && takers > 0) {
    Units rest = free % takers;
    for (Share& share : shares) {
      if (!share.takes_more()) continue;
      share.target = share.base() + free / takers + (rest-- > 0 ? 1 : 0);
    }
    return free / takers;
  }
  if (used > granted) {
    // The grant has shrunk: all twins shrink in proportion, and admit nothing until they are below their targets.
    for (Share& share : shares) {
      share.target = static_cast<Units>(Wide{share.used} * granted / used);
      if (share.written) share.target = std::min(share.target, share.hard);
    }
    return 0;
  }
  // Not all waiting pods fit: twins that need least come first, so that some can run.
  std::vector<Share*> order;
  order.reserve(shares.size());
  for (Share& share : shares) order.push_back(&share);
  std::ranges::sort(order, {}, [](const Share* share) { return std::tie(share->waiting, share->twin->twin); });
  Units left = granted - used;
  for (Share* share : order) {
    const Units more = std::min(share->waiting, left);
    share->target = share->used + more;
    left -= more;
  }
  return 0;
}

bool is_due(const std::vector<Share>& shares, Units granted, Units spare) {
  Units most_used = 0, used = 0, hard = 0;
  for (const Share& share : shares) {
    most_used += share.held;
    used += share.used;
    hard += share.hard;
  }
  // If more is in use than granted, lower bounds free nothing before pods end: only the bounds are compared.
  if (used > granted) most_used = hard;
  return std::ranges::any_of(shares, [&](const Share& share) {
    if (!share.takes_more()) return false;
    if (!share.written || (most_used > granted && share.hard > share.target)) return true;
    if (share.hard >= share.target) return false;
    return share.base() >= share.hard || 2 * (share.hard - share.base()) < spare;
  });
}

void write_amount(std::map<std::string, Resources>& writes, const Share& share, const std::string& name, Units amount) {
  if (share.written && amount == share.hard) return;
  writes[share.twin->twin].insert_or_assign(name, quantity(name, amount));
}

void plan_resource(const std::string& name, Units granted, std::span<const TwinPods> twins,
                   std::map<std::string, Resources>& writes) {
  std::vector<Share> shares;
  for (const TwinPods& twin : twins) shares.push_back(share_of(twin, name));
  const Units spare = aim(shares, granted);
  if (!is_due(shares, granted, spare)) return;
  bool lowers = false, unconfirmed = false;
  Units room = granted, wanted = 0;
  for (const Share& share : shares) {
    room -= share.held;
    if (!share.takes_more()) continue;
    if (share.hard > share.target) {
      lowers = true;
      write_amount(writes, share, name, share.target);
    } else if (share.target > share.held) {
      wanted += share.target - share.held;
    }
    unconfirmed = unconfirmed || (share.written && (!share.counted || share.held > std::max(share.hard, share.used)));
  }
  const auto raise = [&](Share& share, Units to) {
    // An amount that can be in use anyway takes no more room.
    const Units next = std::min(to, share.held + std::max<Units>(room, 0));
    if (next <= share.hard && share.twin->exists) return;
    room -= std::max<Units>(0, next - share.held);
    write_amount(writes, share, name, next);
    share.hard = next;
    share.held = std::max(share.held, next);
  };
  for (Share& share : shares) {
    if (!share.takes_more() || share.hard > share.target) continue;
    // A new ResourceQuota starts with what is in use, so that Kubernetes begins to count.
    if (!share.twin->exists) raise(share, std::min(share.target, share.held));
    if (!lowers && share.base() > share.hard) raise(share, std::min(share.target, share.base()));
  }
  // The spare room waits until it can be written in one write.
  if (lowers || (unconfirmed && room < wanted)) return;
  for (Share& share : shares)
    if (share.takes_more() && share.hard <= share.target && (share.target > share.hard)) raise(share, share.target);
}

}  // namespace

Resources as_quota_names(const Resources& demand) {
  Resources named;
  for (const auto& [resource, asked] : demand) {
    const std::string name = quota_name(resource);
    if (name.empty()) continue;
    named.emplace(name, asked);
    // Limits are bounded only if they have to equal requests (Hard).
    if (resource == "cpu" || resource == "memory") named.emplace(std::string(limits_prefix) + resource, asked);
  }
  return named;
}

Resources granted_to_twins(std::span<const kube::Object> quotas, const HeldByUser& held) {
  Resources granted{{"pods", {}}, {"requests.cpu", {}}, {"requests.memory", {}}};
  bool all_hard = !quotas.empty();
  for (const kube::Object& object : quotas) {
    const api::Quota quota(object);
    all_hard = all_hard && parse_enforcement(quota.enforcement()) == Enforcement::hard;
    auto amounts = read_resources(quota.resources());
    if (!amounts || quota.is_drained()) continue;
    amounts->try_emplace("pods", kube::Quantity(pods_without_bound));
    if (quota.is_cordoned()) {
      const auto holds = held.find(escape_user(quota.user()));
      for (auto& [name, grant] : *amounts)
        grant = std::min(grant, holds == held.end() ? kube::Quantity() : amount(holds->second, name));
    }
    for (const auto& [resource, grant] : *amounts)
      if (const std::string name = quota_name(resource);
          !name.empty() && (granted.contains(name) || granted.size() < max_bounded))
        granted[name] += grant;
  }
  if (all_hard)
    for (std::string_view resource : {"cpu", "memory"})
      granted[std::string(limits_prefix) + std::string(resource)] =
          amount(granted, std::string(requests_prefix) + std::string(resource));
  return granted;
}

void read_twin_quota(const kube::Object& quota, TwinPods& twin) {
  const auto amounts = [&](const json::object& from, std::string_view list) {
    Resources read = read_resources(kube::object_at(from, {list})).value_or(Resources());
    std::erase_if(read, [](const auto& entry) { return entry.first.starts_with(count_prefix); });
    return read;
  };
  twin.exists = true;
  twin.hard = amounts(quota.spec(), "hard");
  twin.admitted = amounts(quota.status(), "hard");
  twin.used = amounts(quota.status(), "used");
}

std::map<std::string, Resources> plan_twin_pods(const Resources& granted, std::span<const TwinPods> twins) {
  std::map<std::string, Resources> writes;
  std::set<std::string> names;
  for (const auto& [name, grant] : granted) names.insert(name);
  // A resource that is no longer granted keeps a bound, of zero.
  for (const TwinPods& twin : twins)
    for (const auto& [name, bound] : twin.hard)
      if (!name.starts_with(limits_prefix)) names.insert(name);
  for (const std::string& name : names) plan_resource(name, floor_of(granted, name), twins, writes);
  return writes;
}

bool is_bounded(const TwinPods& twin, const Resources& granted) {
  return twin.exists && std::ranges::all_of(granted, [&](const auto& entry) {
           return twin.hard.contains(entry.first) && twin.admitted.contains(entry.first) &&
                  twin.used.contains(entry.first);
         });
}

kube::Object forge_twin_pods_quota(std::string_view twin, const TwinPodsQuota& wanted) {
  Resources all = wanted.hard;
  for (const std::string& kind : wanted.kinds)
    all.emplace(std::string(count_prefix) + kind, kube::Quantity(max_custom_objects));
  return forge_resource_quota({std::string(twin), std::string(twin_pods_quota_name)}, wanted.consumer, all);
}

bool are_counted(const kube::Object& quota, const std::set<std::string>& kinds) {
  const json::object& used = kube::object_at(quota.status(), {"used"});
  return std::ranges::all_of(kinds,
                             [&](const std::string& kind) { return used.contains(std::string(count_prefix) + kind); });
}

std::optional<json::object> plan_twin_pods_quota(const kube::Object& quota, const TwinPodsQuota& wanted,
                                                 const Resources& granted, bool recount) {
  const Resources present = hard_of(quota);
  Resources amounts = wanted.hard;
  for (const std::string& kind : wanted.kinds) {
    const std::string name = std::string(count_prefix) + kind;
    const auto found = present.find(name);
    const bool has_other = found != present.end() && found->second == kube::Quantity(max_custom_objects + 1);
    const bool takes_other = recount && !are_counted(quota, {kind}) ? !has_other : has_other;
    amounts.emplace(name, kube::Quantity(max_custom_objects + (takes_other ? 1 : 0)));
  }
  return plan_resource_quota(quota, wanted.consumer, amounts, [&](std::string_view name) {
    return (name.starts_with(count_prefix) && !amounts.contains(name)) ||
           (name.starts_with(limits_prefix) && !granted.contains(name));
  });
}

}  // namespace liqo::core
