#include "controllers/offloading/bounded_twins.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/namespaces/belonging.hpp"
#include "core/namespaces/twin_pod_bounds.hpp"
#include "core/offloading/provider_pod.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

/// How many waiting Pods are tried when the usage of the bounds has fallen.
constexpr std::size_t max_woken = 32;

}  // namespace

BoundedTwins::BoundedTwins(Context context, std::function<void(const kube::ObjectKey& shadow)> wake)
    : context_(context),
      wake_(std::move(wake)),
      quotas_(context.home.acquire({.resource = api::kinds::resource_quotas, .selection = core::kept_by_liqo()})) {
  quotas_.follow([this](const kube::Change& quota) { see(quota); });
}

bool BoundedTwins::is_counted(const std::string& twin) const {
  const auto bounds = bounds_.find(twin);
  return bounds != bounds_.end() && bounds->second.counted;
}

bool BoundedTwins::lacks_room(const kube::Failure& refusal) {
  return refusal.is_forbidden() && refusal.text().contains(core::twin_pods_quota_name);
}

bool BoundedTwins::knows_defaults() {
  if (!surroundings_) surroundings_.emplace(context_.home);
  return surroundings_->has_synced();
}

void BoundedTwins::name_requests(const std::string& twin, kube::Object& pod) const {
  kube::json::object& spec = pod.mutable_spec();
  core::name_requests(spec, surroundings_->of(twin, spec).limit_ranges);
}

void BoundedTwins::stop_waiting(const kube::ObjectKey& shadow) {
  const auto waiting = short_.find(shadow.ns);
  if (waiting == short_.end()) return;
  waiting->second.erase(shadow);
  if (waiting->second.empty()) short_.erase(waiting);
}

std::vector<std::string> BoundedTwins::waited_for() const {
  std::vector<std::string> twins;
  twins.reserve(short_.size());
  for (const auto& [twin, keys] : short_) twins.push_back(twin);
  return twins;
}

void BoundedTwins::wake_all(const std::string& twin) { wake(twin, std::numeric_limits<std::size_t>::max()); }

void BoundedTwins::see(const kube::Change& quota) {
  const kube::ObjectKey& key = quota.key;
  if (key.name != core::twin_pods_quota_name) return;
  if (!quota.now) {
    bounds_.erase(key.ns);
    wake_all(key.ns);
    return;
  }
  core::TwinPods said;
  core::read_twin_quota(*quota.now, said);
  Bounds now{.hard = kube::json::serialize(core::write_resources(said.admitted)),
             .used = said.used,
             .counted = said.admitted.contains("pods") && said.used.contains("pods")};
  const Bounds before = std::exchange(bounds_[key.ns], now);
  const bool is_less = std::ranges::any_of(
      before.used, [&](const auto& entry) { return core::amount(now.used, entry.first) < entry.second; });
  if (before.hard != now.hard || before.counted != now.counted)
    wake_all(key.ns);
  else if (is_less)
    wake(key.ns, max_woken);
}

void BoundedTwins::wake(const std::string& twin, std::size_t max_keys) {
  const auto found = short_.find(twin);
  if (found == short_.end()) return;
  for (std::set<kube::ObjectKey>& keys = found->second; !keys.empty() && max_keys > 0; --max_keys) {
    wake_(*keys.begin());
    keys.erase(keys.begin());
  }
  if (found->second.empty()) short_.erase(found);
}

}  // namespace liqo::controllers
