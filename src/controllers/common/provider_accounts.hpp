// Memory accounts for the objects that are read of providers.
// Tested by test/unit/controllers/common/provider_accounts_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/base/memory_account.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqo::controllers {

/// One account for each provider, to which everything is charged that this process reads of it: by the sessions of its
/// virtual nodes, by replication and by storage. All providers together share half of the memory for answers, even when
/// all of them are read for the first time after a start. A few providers that use it up do not starve the others: each
/// provider has a floor. One thread.
class ProviderAccounts {
 public:
  /// A provider gets a quarter of the bound of its objects (`provider_cache_mib`), and at least least_mib.
  ProviderAccounts(int provider_cache_mib, kube::Metrics& metrics);

  /// The account of the provider `cluster`; every caller gets the same one, as long as any of it is in use.
  std::shared_ptr<kube::MemoryAccount> of(const std::string& cluster);
  /// Drops the accounts that no caller holds any more, and removes them from the metrics.
  void prune();

  static constexpr int least_mib = 16;
  /// The floor of a provider, and the most that all floors together may add to the shared memory.
  static constexpr std::size_t floor = 4 << 20, max_floors = 32 << 20;

 private:
  struct Known {
    std::weak_ptr<kube::MemoryAccount> account;
    kube::Metrics::Reading held, limit;
  };
  /// Lowers the floors as the number of providers grows.
  void set_floors();

  std::size_t limit_;
  kube::Metrics& metrics_;
  std::shared_ptr<kube::MemoryAccount> all_;
  std::map<std::string, Known> known_;
  kube::Metrics::Reading held_, max_;
};

}  // namespace liqo::controllers
