// The parts of a program besides its controllers: caches, Events, and whether it leads.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/api.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leader_elector.hpp"

namespace kube {

struct ManagerSettings {
  std::string cluster;           ///< what failures and metrics call it
  EventRecorder::Source source;  ///< of Events
  /// Set: only the holder of this lease writes; if the lease was rewound, caches are read again (the Manager sets
  /// `rewound`). Unset: this process leads from the start.
  std::optional<LeaderElectionSettings> election = {};
};

/// Guarantees: api() writes only while this process leads, and asks before each write; what was added runs while it
/// leads and is cancelled when it does not; caches, Events and the lease outlive what uses them. Order of use:
/// construct, acquire() caches, add() work (what is added later is not run), run(); when run() has ended, destroy it
/// after what holds handles of its caches. One thread.
class Manager {
 public:
  Manager(const Environment& environment, net::Transport& transport, ManagerSettings settings);
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// For controllers and what else runs here: with the leader whose loss ends reconciles.
  const Environment& environment() const { return environment_; }
  /// Writes only while this process leads; otherwise a write fails with Errc::stopped.
  Api& api() { return api_; }
  /// Writes whether this process leads or not: for what every replica writes, such as reviews of its callers.
  Api& open_api() { return open_api_; }
  InformerSet& caches() { return caches_; }
  const InformerSet& caches() const { return caches_; }
  EventRecorder& events() { return events_; }
  Leadership& leadership() { return *leadership_; }

  /// Adds what runs whenever this process leads, such as `[&] { return controller.run(); }`. It ends when cancelled.
  void add(std::function<asio::awaitable<void>()> work) { leading_.push_back(std::move(work)); }
  /// Adds what runs on every replica.
  void add_always(std::function<asio::awaitable<void>()> work) { always_.push_back(std::move(work)); }

  /// Runs until it is cancelled, or a part of it ends by an exception, which is thrown, because what is left would keep
  /// its lease and do nothing. If nothing was added by add(), it also ends when all of add_always() has ended.
  /// Reconciles under way get their grace, then everything is joined.
  asio::awaitable<void> run();

 private:
  std::unique_ptr<Leadership> make_leadership(std::optional<LeaderElectionSettings> election);

  Environment environment_;
  Api open_api_;
  LeaderElector* elector_ = nullptr;  // set while the next one is made, so it is declared before it
  std::unique_ptr<Leadership> leadership_;
  Api api_;
  InformerSet caches_;
  EventRecorder events_;
  std::vector<std::function<asio::awaitable<void>()>> leading_, always_;
};

}  // namespace kube
