#include "kube/runtime/manager.hpp"

#include "kube/async/finally.hpp"
#include "kube/async/vital.hpp"

namespace kube {

std::unique_ptr<Leadership> Manager::make_leadership(std::optional<LeaderElectionSettings> election) {
  if (!election) return std::make_unique<SoleLeader>(environment_.executor);
  // The database of the server was restored: what the caches hold may be of another time.
  election->rewound = [this] { caches_.read_anew(); };
  auto made = std::make_unique<LeaderElector>(environment_.executor, open_api_, std::move(*election));
  elector_ = made.get();
  return made;
}

Manager::Manager(const Environment& environment, net::Transport& transport, ManagerSettings settings)
    : environment_(environment),
      open_api_(transport, environment_.clock, environment_.random, environment_.metrics,
                {.cluster = settings.cluster}),
      leadership_(make_leadership(std::move(settings.election))),
      api_(transport, environment_.clock, environment_.random, environment_.metrics,
           {.cluster = settings.cluster, .may_write = [this] { return leadership_->may_write(); }}),
      caches_(environment_.executor, api_, environment_.metrics),
      events_(environment_.executor, api_, environment_.metrics, std::move(settings.source)) {
  environment_.leader = leadership_.get();
}

asio::awaitable<void> Manager::run() {
  // Two groups, because caches, Events and the lease must outlive what uses them.
  async::TaskGroup base(environment_.executor), work(environment_.executor);
  std::exception_ptr lost;
  base.spawn(async::vital(caches_.run(), work, lost));
  base.spawn(async::vital(events_.run(), work, lost));
  if (elector_) base.spawn(async::vital(elector_->run(), work, lost));
  for (const auto& each : leading_) work.spawn(run_while_leading(*leadership_, each));
  for (const auto& each : always_) work.spawn(each());
  co_await async::finally(work.join(), async::stop_in_turn(work, base));
  if (lost) std::rethrow_exception(lost);
}

}  // namespace kube
