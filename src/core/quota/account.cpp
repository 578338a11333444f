#include "core/quota/account.hpp"

#include <utility>

namespace liqo::core {
namespace {

/// The number of vanished ShadowPods that are remembered: more than can be admitted while one reservation lives.
constexpr std::size_t max_gone = 50'000;

const Resources nothing;

}  // namespace

bool QuotaAccount::set(const kube::ObjectKey& key, std::optional<HeldShadow> shadow, std::optional<HeldPod> pod) {
  Holding& holding = holdings_[key];
  count(holding, false);
  const bool is_pod_same = pod && holding.pod && pod->uid == holding.pod->uid;
  const bool replaced = holding.shadow && (!shadow || shadow->uid != holding.shadow->uid);
  if (replaced) {
    gone_.push_back(holding.shadow->uid);
    while (gone_.size() > max_gone) {
      seen_.erase(gone_.front());
      gone_.pop_front();
    }
    holding.shadow->demand = std::exchange(holding.most, {});
    // If its Pod has gone too, or the ShadowPod was finished, nothing is left to count. If its Pod is still there, that
    // counts instead (below).
    const bool has_pod = holding.pod && holding.pod->shadow_uid == holding.shadow->uid;
    if (!holding.shadow->finished && (!has_pod || is_pod_same)) holding.vanished.push_back(*holding.shadow);
  }
  if (!is_pod_same) holding.max_of_pod.clear();
  // The Pod of a vanished ShadowPod is in the cache and counts in its place. The cache may not have the Pod's last
  // resize yet, so the larger amounts count.
  if (pod)
    std::erase_if(holding.vanished, [&](const HeldShadow& vanished) {
      if (vanished.uid != pod->shadow_uid) return false;
      if (pod->generation.value_or(vanished.generation) < vanished.generation)
        raise(holding.max_of_pod, vanished.demand);
      return true;
    });
  if (shadow) {
    seen_[shadow->uid] = shadow->version;
    const bool own_pod = pod && pod->shadow_uid == shadow->uid;
    // Generations are compared and not amounts: the amounts asked for may be those the Pod was made with, while it has
    // others now.
    const bool is_settled = own_pod && pod->generation.value_or(shadow->generation) >= shadow->generation;
    const bool is_same = holding.shadow && holding.shadow->uid == shadow->uid;
    holding.is_resized =
        is_same && !is_settled && (holding.is_resized || holding.shadow->generation != shadow->generation);
    if (!holding.is_resized) holding.most.clear();
    raise(holding.most, shadow->demand);
  }
  holding.shadow = std::move(shadow);
  holding.pod = std::move(pod);
  count(holding, true);
  const bool confirm = !holding.vanished.empty();
  if (!holding.shadow && !holding.pod && !confirm) holdings_.erase(key);
  return confirm;
}

void QuotaAccount::confirm_gone(const kube::ObjectKey& key) {
  const auto found = holdings_.find(key);
  if (found == holdings_.end() || found->second.vanished.empty()) return;
  count(found->second, false);
  found->second.vanished.clear();
  count(found->second, true);
  if (!found->second.shadow && !found->second.pod) holdings_.erase(found);
}

std::uint64_t QuotaAccount::seen_version(const std::string& shadow_uid) const {
  const auto found = seen_.find(shadow_uid);
  return found == seen_.end() ? 0 : found->second;
}

const Resources& QuotaAccount::used(const std::string& user) const {
  const auto found = sums_.find(user);
  return found == sums_.end() ? nothing : found->second.used;
}

std::vector<std::string> QuotaAccount::users() const {
  std::vector<std::string> users;
  users.reserve(sums_.size());
  for (const auto& [user, sum] : sums_) users.push_back(user);
  return users;
}

std::size_t QuotaAccount::pods(const std::string& user) const {
  const auto found = sums_.find(user);
  return found == sums_.end() ? 0 : found->second.pods;
}

void QuotaAccount::count(const Holding& holding, bool add_it) {
  const bool pod_counts = holding.pod && !holding.pod->finished;
  // A finished Pod frees its share before the ShadowPod records the end.
  const bool own_pod = holding.shadow && holding.pod && holding.pod->shadow_uid == holding.shadow->uid;
  const bool shadow_counts = holding.shadow && !holding.shadow->finished && !(own_pod && holding.pod->finished);
  if (own_pod && shadow_counts && pod_counts) {
    Resources larger = holding.most;
    raise(larger, holding.pod->demand);
    count(holding.shadow->user, larger, add_it);
  } else {
    if (shadow_counts) count(holding.shadow->user, holding.most, add_it);
    if (pod_counts) {
      Resources larger = holding.pod->demand;
      raise(larger, holding.max_of_pod);
      count(holding.pod->user, larger, add_it);
    }
  }
  for (const HeldShadow& vanished : holding.vanished) count(vanished.user, vanished.demand, add_it);
}

void QuotaAccount::count(const std::string& user, const Resources& demand, bool add_it) {
  Sum& sum = sums_[user];
  if (add_it) {
    add(sum.used, demand);
    ++sum.pods;
    return;
  }
  subtract(sum.used, demand);
  if (--sum.pods == 0) sums_.erase(user);
}

}  // namespace liqo::core
