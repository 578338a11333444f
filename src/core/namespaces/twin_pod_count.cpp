#include "core/namespaces/twin_pod_count.hpp"

#include <utility>

namespace liqo::core {
namespace {

/// Whether a sum of demands is that of no pod any more: each of them has one of "pods".
bool has_no_pods(const Resources& sum) { return amount(sum, "pods").is_zero(); }

}  // namespace

void TwinPodCount::add(const kube::ObjectKey& key, CountedPod pod) {
  core::add(held_[pod.user], pod.demand);
  Sum& sum = sums_[key.ns];
  core::add(sum.whole, pod.demand);
  if (pod.waiting) core::add(sum.waiting, pod.demand);
  pods_.emplace(key, std::move(pod));
}

void TwinPodCount::forget(const kube::ObjectKey& key) {
  const auto had = pods_.find(key);
  if (had == pods_.end()) return;
  const CountedPod& old = had->second;
  const auto held = held_.find(old.user);
  subtract(held->second, old.demand);
  if (has_no_pods(held->second)) held_.erase(held);
  const auto sum = sums_.find(key.ns);
  subtract(sum->second.whole, old.demand);
  if (old.waiting) subtract(sum->second.waiting, old.demand);
  if (has_no_pods(sum->second.whole)) sums_.erase(sum);
  pods_.erase(had);
}

std::vector<std::string> TwinPodCount::twins() const {
  std::vector<std::string> twins;
  twins.reserve(sums_.size());
  for (const auto& [twin, sum] : sums_) twins.push_back(twin);
  return twins;
}

std::vector<kube::ObjectKey> TwinPodCount::pods_in(std::string_view twin) const {
  std::vector<kube::ObjectKey> keys;
  for (const auto& [key, pod] : pods_)
    if (key.ns == twin) keys.push_back(key);
  return keys;
}

void TwinPodCount::read(TwinPods& twin) const {
  const auto sum = sums_.find(twin.twin);
  if (sum == sums_.end()) return;
  twin.waiting = as_quota_names(sum->second.waiting);
  twin.whole = as_quota_names(sum->second.whole);
}

}  // namespace liqo::core
