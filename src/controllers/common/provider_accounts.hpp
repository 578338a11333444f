// Memory for what is read of providers.
// Tested by test/unit/controllers/common/provider_accounts_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/base/memory_account.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqo::controllers {

/// One account for each provider, on which everything is drawn that this process reads of it: by the sessions of its
/// virtual nodes, replication and storage. All providers together share half of the memory for answers, also when all
/// of them are read for the first time after a start. A few that use it up reach no other: each provider has a floor.
/// One thread.
class ProviderAccounts {
 public:
  /// A provider gets a quarter of what its objects may take (`provider_cache_mib`), at least least_mib.
  ProviderAccounts(int provider_cache_mib, kube::Metrics& metrics);

  /// The account of the provider `cluster`; the same for everybody, as long as anything of it is in use.
  std::shared_ptr<kube::MemoryAccount> of(const std::string& cluster);
  /// Forgets those that nobody has any more, and takes them out of the metrics.
  void prune();

  static constexpr int least_mib = 16;
  /// The floor of a provider, and the most that the floors of all may add to what providers share.
  static constexpr std::size_t floor = 4 << 20, max_floors = 32 << 20;

 private:
  struct Known {
    std::weak_ptr<kube::MemoryAccount> account;
    kube::Metrics::Reading held, limit;
  };
  /// Floors become lower with more providers.
  void set_floors();

  std::size_t limit_;
  kube::Metrics& metrics_;
  std::shared_ptr<kube::MemoryAccount> all_;
  std::map<std::string, Known> known_;
  kube::Metrics::Reading held_, max_;
};

}  // namespace liqo::controllers
