#include "controllers/common/provider_accounts.hpp"

#include <algorithm>

#include "kube/telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using kube::MemoryAccount;

/// The value of the label `cluster` for all API servers together.
constexpr const char* everybody = "<all>";

kube::Metrics::Reading show_held(kube::Metrics& metrics, const std::string& cluster,
                                 std::weak_ptr<MemoryAccount> account) {
  return metrics.sample(kube::families::answer_bytes, {{"cluster", cluster}}, [of = std::move(account)] {
    const auto shown = of.lock();
    return shown ? double(shown->held()) : 0.0;
  });
}
kube::Metrics::Reading show_limit(kube::Metrics& metrics, const std::string& cluster,
                                  std::weak_ptr<MemoryAccount> account) {
  return metrics.sample(kube::families::answer_max_bytes, {{"cluster", cluster}}, [of = std::move(account)] {
    const auto shown = of.lock();
    return shown ? double(shown->limit()) : 0.0;
  });
}

}  // namespace

ProviderAccounts::ProviderAccounts(int provider_cache_mib, kube::Metrics& metrics)
    : limit_(std::size_t(std::max(provider_cache_mib / 4, least_mib)) << 20),
      metrics_(metrics),
      all_(std::make_shared<MemoryAccount>("all providers together", MemoryAccount::of_process()->limit() / 2)),
      held_(show_held(metrics, everybody, MemoryAccount::of_process())),
      max_(show_limit(metrics, everybody, MemoryAccount::of_process())) {}

std::shared_ptr<MemoryAccount> ProviderAccounts::of(const std::string& cluster) {
  prune();
  Known& known = known_[cluster];
  if (auto account = known.account.lock()) return account;
  auto account = std::make_shared<MemoryAccount>("cluster " + cluster, limit_, all_);
  known = {.account = account,
           .held = show_held(metrics_, cluster, account),
           .limit = show_limit(metrics_, cluster, account)};
  set_floors();
  return account;
}

void ProviderAccounts::prune() {
  std::erase_if(known_, [](const auto& entry) { return entry.second.account.expired(); });
  set_floors();
}

void ProviderAccounts::set_floors() {
  const std::size_t each = std::min(floor, max_floors / std::max<std::size_t>(known_.size(), 1));
  for (const auto& [cluster, known] : known_)
    if (const auto account = known.account.lock()) account->set_floor(each);
}

}  // namespace liqo::controllers
