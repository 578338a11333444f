// The workers of one session with a provider, and how a session that loses one is restarted.
// Tested by test/unit/controllers/sessions/lost_session_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "controllers/common/context.hpp"
#include "kube/async/task_group.hpp"
#include "kube/runtime/backoff.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// Runs the workers of one session. A worker that ends by an exception leaves the others running and notifies the
/// owner, which restarts the session: otherwise the session would look healthy and do nothing. One thread.
class SessionWorkers {
 public:
  explicit SessionWorkers(const asio::any_io_executor& executor)
      : group_(executor, kube::async::TaskGroup::OnFailure::keep_others) {}

  void spawn(asio::awaitable<void> worker) { group_.spawn(watch_over(std::move(worker))); }
  /// Ends all of them. Must be awaited before this is destroyed.
  asio::awaitable<void> stop() { return group_.stop(); }

  /// The error that ended the first lost worker; "" = none was lost.
  const std::string& loss() const { return loss_; }
  /// Sets the handler that is called when loss() becomes non-empty. Must not suspend.
  void on_loss(std::function<void()> handler) { lost_ = std::move(handler); }

 private:
  asio::awaitable<void> watch_over(asio::awaitable<void> worker);

  kube::async::TaskGroup group_;
  std::string loss_;
  std::function<void()> lost_;
};

/// The pause before a session that has lost a worker is restarted: a second, and longer each time that it is lost
/// again.
class SessionRestarts {
 public:
  /// A session has begun.
  void begin(kube::TimePoint now) { begun_ = now; }
  /// Notes that the session is lost, and returns how long to wait before the next one.
  kube::Duration lose(kube::TimePoint now, kube::Random& random);
  /// True if the last session was lost soon after another one, which is to be reported.
  bool is_repeated() const { return losses_ > 1; }
  /// Counts the loss in the metrics; `session`: the purpose of the session.
  void count(kube::Metrics& metrics, const std::string& cluster, const std::string& session);

 private:
  kube::TimePoint begun_{};
  int losses_ = 0;
  kube::Counter lost_;
};

/// Names a lost session in the log and the metrics.
struct LostSession {
  std::string cluster;
  std::string purpose;  ///< of the session: a value of the label `session`
};

/// The slot of one session: the session in it, and when the next one may begin.
template <class Session>
struct SessionSlot {
  std::string digest;                ///< of what the session was made from, without its credentials
  std::string credentials;           ///< a digest of these
  std::shared_ptr<Session> session;  ///< null if there is none; shared by what waits for its provider
  kube::TimePoint not_before{};      ///< of the next session, if one was lost
  SessionRestarts restarts;

  /// Takes the session out of the slot, for the caller to stop it. The caller disables cancellation from here until
  /// stop() has ended: a cancelled reconcile would leave the link open.
  std::shared_ptr<Session> take_out() {
    digest.clear();
    return std::exchange(session, nullptr);
  }

  /// Notes, counts and logs that the session has lost a worker. The session stays in its slot. Returns how long to wait
  /// before the next one.
  kube::Duration lose(const LostSession& lost, const Context& context, const kube::Log& log) {
    const kube::TimePoint now = context.clock.now();
    const kube::Duration pause = restarts.lose(now, context.random);
    not_before = now + pause;
    restarts.count(context.metrics, lost.cluster, lost.purpose);
    log.error("the session with the provider has lost a worker and starts anew",
              {{"cluster", lost.cluster},
               {"error", session->loss()},
               {"pause_ms", std::chrono::ceil<std::chrono::milliseconds>(pause).count()}});
    return pause;
  }
};

}  // namespace liqo::controllers
