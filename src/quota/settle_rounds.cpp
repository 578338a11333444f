#include "quota/settle_rounds.hpp"

#include <algorithm>
#include <utility>

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// The time between the beginnings of two rounds for one consumer. A decrease of usage is to be seen within two
/// seconds.
constexpr kube::Duration round_pause = 1s;
/// Slices that have waited for the same round come at about the same time, but not in one turn of the loop.
constexpr kube::Duration round_gather = 20ms;

}  // namespace

SettleRounds::SettleRounds(const LedgerContext& context, Work work)
    : executor_(context.executor), clock_(context.clock), work_(std::move(work)) {}

kube::Duration SettleRounds::begins_in(const std::string& tenant_namespace) const {
  const auto rounds = rounds_.find(tenant_namespace);
  if (rounds == rounds_.end() || rounds->second.last->is_open) return kube::Duration::zero();
  return std::max(rounds->second.next - clock_.now(), kube::Duration::zero());
}

asio::awaitable<kube::Result<void>> SettleRounds::join(std::string tenant_namespace) {
  if (const auto rounds = rounds_.find(tenant_namespace); rounds != rounds_.end() && rounds->second.last->is_open) {
    const std::shared_ptr<SharedRound> other = rounds->second.last;
    co_await other->over.wait();
    co_return other->result;
  }
  const kube::TimePoint now = clock_.now();
  std::erase_if(rounds_, [now](const auto& entry) { return !entry.second.last->is_open && entry.second.next <= now; });
  const auto round = std::make_shared<SharedRound>(executor_);
  const RoundUnderWay under_way(round);
  Rounds& rounds = rounds_[tenant_namespace];
  rounds.last = round;
  const kube::TimePoint begin = std::max(rounds.next, now + round_gather);
  rounds.next = begin + round_pause;
  co_await clock_.sleep_until(begin);
  // Callers that come from here on may know of changes that this round does not see.
  round->is_open = false;
  round->result = co_await work_(std::move(tenant_namespace));
  co_return round->result;
}

}  // namespace liqo::quota
