// One leader among replicas, by a Lease, with a fence that is checked before writes.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "kube/client/api.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"

namespace kube {

/// retry_period < renew_deadline < lease_duration.
struct LeaderElectionSettings {
  ObjectKey lease;
  std::string identity;  ///< unique per process, e.g. the pod's name and UID
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);  ///< gives up leading when renewals fail this long
  Duration retry_period = std::chrono::seconds(2);     ///< between two tries; up to a fifth less
  /// How long after it was sent a request may still be carried out. A leader that finds a lease expired inherits the
  /// doubt about the requests of the last one for that time, and a lease is released only by a leader that leaves no
  /// doubt.
  Duration late_requests{};
  /// Called when the lease reads older than it was read or written before: the server's database was restored.
  std::function<void()> rewound = nullptr;
};

/// Takes and renews a Lease. One thread.
///
/// Guarantees: while `may_write()` is true, no other well-behaved replica leads, because the fence falls
/// `renew_deadline` after the last successful renewal was *sent*, before the lease can expire for others; at that
/// moment leadership is lost, whatever request is under way. Others' clocks are not trusted: a foreign lease counts as
/// expired only after it has not changed for its duration by our own clock, counted from when it was read.
///
/// Lifetime: on stop this process leads no longer, and then the lease is released, unless a write of this or an earlier
/// leader is in doubt: what writes has to be stopped before.
class LeaderElector final : public Leadership {
 public:
  /// `open_api` has no fence, because every replica that wants to lead writes the lease. Throws std::invalid_argument
  /// for times that would let two lead.
  LeaderElector(const asio::any_io_executor& executor, Api& open_api, LeaderElectionSettings settings);
  ~LeaderElector() override;

  /// Competes until cancelled; loses and gains leadership any number of times.
  asio::awaitable<void> run();
  bool may_write() const override;

 private:
  /// Tries to take or renew the lease until it is cancelled.
  asio::awaitable<void> compete();
  /// Leads no longer, and releases the lease if this process has led and leaves no doubt.
  asio::awaitable<void> step_down();
  asio::awaitable<Result<void>> try_once();
  asio::awaitable<void> release();
  /// Compares the lease with what is known of it.
  void see(const Object& lease);
  /// Leads until `at`, unless the fence is set again before.
  void set_fence(TimePoint at);
  Object forge(const Object* current, bool releasing) const;
  void change(bool leading);

  asio::any_io_executor executor_;
  Api& open_api_;
  LeaderElectionSettings settings_;
  TimePoint fence_{};
  bool has_led_ = false;
  std::optional<async::Alarm> fall_;  ///< goes off at the fence
  std::uint64_t newest_ = 0;          ///< version of the lease as it was read or written last
  std::string seen_version_;          ///< of a foreign lease
  TimePoint seen_at_{};
  Repeats failures_;
  Log log_;
};

}  // namespace kube
