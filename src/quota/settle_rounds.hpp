// The rounds in which the quota ledger is brought to the present: shared by callers, and not too often.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "quota/ledger_context.hpp"
#include "quota/shared_round.hpp"

namespace liqo::quota {

/// For each tenant namespace one round at a time, and one a second: a consumer may edit its slices all the time, and
/// each round has the API server list all Quotas and records. One thread.
class SettleRounds {
 public:
  using Work = std::function<asio::awaitable<kube::Result<void>>(std::string tenant_namespace)>;
  /// `work` is one round.
  SettleRounds(const LedgerContext& context, Work work);

  /// Waits for the result of a round that has not begun yet: that of others, or an own one. Errors: those of the work,
  /// and Errc::stopped if whoever did it was stopped.
  asio::awaitable<kube::Result<void>> join(std::string tenant_namespace);
  /// How long a join() that is called now would wait for the beginning of its round.
  kube::Duration begins_in(const std::string& tenant_namespace) const;

 private:
  struct Rounds {
    std::shared_ptr<SharedRound> last;
    kube::TimePoint next{};  ///< no round begins before
  };
  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  Work work_;
  std::map<std::string, Rounds> rounds_;  ///< by tenant namespace
};

}  // namespace liqo::quota
