#include "quota/quota_metrics.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/quota/amounts.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "telemetry/families.hpp"

namespace liqo::quota {
namespace {

using Values = std::map<kube::Labels, double>;

/// Any client that reaches the port can scrape as often as it likes, so the values are computed at most this often.
constexpr kube::Duration pause = std::chrono::seconds(1);

}  // namespace

QuotaMetrics::QuotaMetrics(LedgerContext context, const QuotaLedger& ledger)
    : context_(std::move(context)),
      ledger_(ledger),
      quotas_(context_.home.acquire({.resource = api::kinds::quotas})),
      namespaces_(context_.home.acquire(
          {.resource = kube::resources::namespaces, .selection = core::marked_tenant_namespaces()})),
      granted_(context_.metrics, families::quota_granted),
      used_(context_.metrics, families::quota_used),
      free_(context_.metrics, families::quota_free),
      pods_(context_.metrics, families::quota_pods),
      left_out_(context_.metrics, families::quota_left_out),
      reading_(context_.metrics.on_scrape([this] { refresh(); })) {}

void QuotaMetrics::refresh() {
  const kube::TimePoint now = context_.clock.now();
  if (now < next_) return;
  next_ = now + pause;
  Values granted, used, free, pods, left_out;
  std::map<std::string, std::size_t> slices;  // by consumer
  std::vector<kube::ObjectKey> keys;
  if (context_.leadership.is_leader() && ledger_.has_synced()) keys = quotas_->store().keys();
  std::ranges::sort(keys);
  for (const kube::ObjectKey& key : keys) {
    const auto quota = quotas_->find(key);
    const auto tenant = namespaces_->find({"", key.ns});
    if (!quota || !tenant) continue;
    const auto hard = core::read_resources(api::Quota(*quota).resources());
    if (!hard) continue;  // admission reports it
    const std::string consumer(tenant->label(api::labels::remote_cluster_id));
    double& unseen = left_out[{{"cluster_id", consumer}}];
    if (++slices[consumer] > max_slices) {
      unseen += double(hard->size());
      continue;
    }
    const auto owner = quota->controller();
    const kube::Labels of_slice{{"cluster_id", consumer}, {"slice", owner ? owner->name : key.name}};
    core::QuotaUsage usage = ledger_.usage(key);
    core::add(usage.used, usage.reserved);
    pods[of_slice] += double(usage.pods);
    std::size_t shown = 0;
    for (const auto& [resource, quantity] : *hard) {
      if (!core::is_label_key(resource) || ++shown > max_resources) {
        ++unseen;
        continue;
      }
      kube::Labels labels = of_slice;
      labels["resource"] = resource;
      const double grant = core::amount_of(quantity, resource),
                   use = core::amount_of(core::amount(usage.used, resource), resource);
      granted[labels] += grant;
      used[labels] += use;
      free[labels] += std::max(0.0, grant - use);
    }
  }
  granted_.show(granted);
  used_.show(used);
  free_.show(free);
  pods_.show(pods);
  left_out_.show(left_out);
}

}  // namespace liqo::quota
