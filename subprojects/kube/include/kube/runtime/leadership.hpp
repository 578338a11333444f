// Who may write: the part of leader election that controllers see.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>

#include "kube/async/event.hpp"

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
  /// Returns once this process leads.
  asio::awaitable<void> wait_leading() { return leading_.wait(); }
  /// Returns once this process does not lead.
  asio::awaitable<void> wait_lost() { return lost_.wait(); }

 protected:
  /// Wakes those who wait for the new state.
  void set_leading(bool leading);

 private:
  async::Event leading_, lost_;
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
