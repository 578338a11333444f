#include "webhook/twin_holdings.hpp"

#include "core/admission/twin_size.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/twin_quota.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::webhook {

TwinHoldings::TwinHoldings(kube::InformerSet& home)
    : quotas_(home.acquire({.resource = api::kinds::resource_quotas, .ns = {}, .selection = core::kept_by_liqo()})) {
  quotas_.follow([this](const kube::Change& quota) { take(quota); });
}

void TwinHoldings::take(const kube::Change& quota) {
  const kube::ObjectKey& key = quota.key;
  if (key.name != core::twin_quota_name) return;
  if (const auto before = twins_.find(key.ns); before != twins_.end()) {
    const auto sum = consumers_.find(before->second.consumer);
    sum->second -= before->second.objects;
    if (sum->second == 0) consumers_.erase(sum);
    twins_.erase(before);
  }
  if (!quota.now) return;
  Twin now{.consumer = std::string(quota.now->label(api::labels::remote_cluster_id)),
           .objects = core::admission::counted_objects(core::twin_usage(*quota.now))};
  if (now.objects == 0) return;
  consumers_[now.consumer] += now.objects;
  twins_.emplace(key.ns, std::move(now));
}

std::int64_t TwinHoldings::objects_of(std::string_view consumer) const {
  const auto found = consumers_.find(consumer);
  return found == consumers_.end() ? 0 : found->second;
}

}  // namespace liqo::webhook
