// The rounds in which the quota ledger is brought up to date: shared by callers, and not too often.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "quota/ledger_context.hpp"
#include "quota/shared_round.hpp"

namespace liqo::quota {

/// Runs one round at a time for each tenant namespace, and at most one a second: a consumer may edit its slices all the
/// time, and in each round the API server lists all Quotas and records. One thread.
class SettleRounds {
 public:
  using Work = std::function<asio::awaitable<kube::Result<void>>(std::string tenant_namespace)>;
  /// `work` does one round.
  SettleRounds(const LedgerContext& context, Work work);

  /// Waits for the result of a round that has not begun yet: another caller's, or its own. Errors: those of the work,
  /// and Errc::stopped if the caller that did the work was stopped.
  asio::awaitable<kube::Result<void>> join(std::string tenant_namespace);
  /// How long a join() that is called now would wait for its round to begin.
  kube::Duration begins_in(const std::string& tenant_namespace) const;

 private:
  struct Rounds {
    std::shared_ptr<SharedRound> last;
    kube::TimePoint next{};  ///< the earliest begin of the next round
  };
  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  Work work_;
  std::map<std::string, Rounds> rounds_;  ///< by tenant namespace
};

}  // namespace liqo::quota
