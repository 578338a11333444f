// Who may write: the part of leader election that controllers see.
#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>

#include "kube/async/event.hpp"
#include "kube/base/time.hpp"

namespace kube {

namespace asio = boost::asio;

/// Whether this process leads, as a thing to wait for. One thread.
class Leadership {
 public:
  explicit Leadership(const asio::any_io_executor& executor) : leading_(executor), lost_(executor) { lost_.set(); }
  virtual ~Leadership() = default;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  bool is_leader() const { return leading_.is_set(); }
  /// True while this process leads and its fence stands. Ask right before a write.
  virtual bool may_write() const { return is_leader(); }
  /// Until then the API server may still carry out what an earlier leader sent that did not end in order, and of which
  /// nobody knows any more. In the past if the lease was free.
  TimePoint inherited_doubt_until() const { return inherited_doubt_until_; }
  /// Notes that a write of this process may be carried out until then, though its answer is not known. If the process
  /// ends before, its lease is not released but runs out, so that the next leader inherits the doubt.
  void leave_doubt(TimePoint until) { own_doubt_until_ = std::max(own_doubt_until_, until); }
  /// Returns once this process leads.
  asio::awaitable<void> wait_leading() { return leading_.wait(); }
  /// Returns once this process does not lead.
  asio::awaitable<void> wait_lost() { return lost_.wait(); }

 protected:
  /// Wakes those who wait for the new state.
  void set_leading(bool leading);
  /// Call it before set_leading().
  void inherit_doubt(TimePoint until) { inherited_doubt_until_ = until; }
  /// Until then the next leader has to know of writes that may still be carried out.
  TimePoint doubt_until() const { return std::max(own_doubt_until_, inherited_doubt_until_); }

 private:
  async::Event leading_, lost_;
  TimePoint inherited_doubt_until_{}, own_doubt_until_{};
};

/// For a process without replicas: it leads from the start.
class SoleLeader final : public Leadership {
 public:
  explicit SoleLeader(const asio::any_io_executor& executor) : Leadership(executor) { set_leading(true); }
};

/// Runs `work()` whenever this process leads, and cancels it when leadership is lost. Ends when cancelled, and with
/// what the work throws: a process that leads without its work must not go on.
asio::awaitable<void> run_while_leading(Leadership& leadership, std::function<asio::awaitable<void>()> work);

}  // namespace kube
