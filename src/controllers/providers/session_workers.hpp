// The workers of one session with a provider, and what becomes of a session that loses one.
// Tested by test/unit/controllers/providers/lost_session_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "kube/async/task_group.hpp"
#include "kube/runtime/backoff.hpp"
#include "liqo/controllers/context.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Runs the workers of one session. A worker that ends by an exception leaves the others running, and the owner is
/// told, who makes the session anew: else it would look well and do nothing. One thread.
class SessionWorkers {
 public:
  explicit SessionWorkers(const asio::any_io_executor& executor)
      : group_(executor, kube::async::TaskGroup::OnFailure::keep_others) {}

  void spawn(asio::awaitable<void> worker) { group_.spawn(watch_over(std::move(worker))); }
  /// Ends all of them. Must be awaited before this is destroyed.
  asio::awaitable<void> stop() { return group_.stop(); }

  /// The error that ended the first lost worker; "" = none was lost.
  const std::string& loss() const { return loss_; }
  /// Called when loss() has something to say. Must not suspend.
  void on_loss(std::function<void()> handler) { lost_ = std::move(handler); }

 private:
  asio::awaitable<void> watch_over(asio::awaitable<void> worker);

  kube::async::TaskGroup group_;
  std::string loss_;
  std::function<void()> lost_;
};

/// When a session that has lost a worker is made anew: after a second, and later and later while it is lost again.
class SessionRestarts {
 public:
  /// A session has begun.
  void begin(kube::TimePoint now) { begun_ = now; }
  /// That session is lost: how long to wait before the next.
  kube::Duration lose(kube::TimePoint now, kube::Random& random);
  /// True where the last session was lost soon after another one: people should know.
  bool is_repeated() const { return losses_ > 1; }
  /// Counts it; `session`: what it was for.
  void count(kube::Metrics& metrics, const std::string& cluster, const std::string& session);

 private:
  kube::TimePoint begun_{};
  int losses_ = 0;
  kube::Counter lost_;
};

}  // namespace liqo::controllers
