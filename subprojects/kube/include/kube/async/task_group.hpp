// Structured concurrency: a scope that owns the coroutines spawned in it.
// Tested by test/async/async_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <list>

namespace kube::async {

namespace asio = boost::asio;

/// True if the exception is the one that a cancelled wait throws.
bool is_cancellation(const std::exception_ptr& failure);

/// What went wrong, as text, for logs: `what()` of the exception.
std::string describe(const std::exception_ptr& failure);

namespace detail {
/// How a spawned coroutine ended.
struct ChildEnd {
  std::exception_ptr failure;  ///< none if it returned
  bool cancelled = false;      ///< the failure is that of a cancelled wait
};
/// Runs `child` and notes its end: nothing is thrown into the frames of co_spawn.
asio::awaitable<void> contained(asio::awaitable<void> child, ChildEnd& end);
}  // namespace detail

/// Nothing spawned in a group outlives its join(). The first child that fails cancels the others, and join() throws its
/// exception. No failure is lost: one that join() does not throw is logged. Every group must be joined before it is
/// destroyed (asserted). One thread.
class TaskGroup {
 public:
  /// What a failing child does to its siblings.
  enum class OnFailure {
    cancel_all,
    keep_others,  ///< they go on; its failure is logged at once, as nobody may be waiting for join()
  };

  explicit TaskGroup(asio::any_io_executor executor, OnFailure policy = OnFailure::cancel_all);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Runs a child up to its first wait, at once if the loop is running. After cancel() it starts cancelled.
  void spawn(asio::awaitable<void> child);
  /// Asks every child to stop; they end at their next wait, and those that have not begun never do.
  void cancel();
  /// Waits until no child is left. Cancelling the waiter cancels the children and still waits for them.
  asio::awaitable<void> join();
  /// cancel() and join(), without throwing what the children throw, which is logged: for the way out.
  asio::awaitable<void> stop();
  std::size_t size() const { return children_.size(); }

 private:
  struct Child {
    asio::cancellation_signal stop;
    bool begun = false, cancelled = false;
    detail::ChildEnd end;
  };
  using Children = std::list<Child>;
  static void cancel(Child& child);
  static asio::awaitable<void> begin(asio::awaitable<void> child, Child& self);
  void finished(Children::iterator self);

  asio::any_io_executor executor_;
  asio::steady_timer idle_;
  Children children_;
  std::exception_ptr first_failure_;
  OnFailure policy_;
  bool stopping_ = false;
};

}  // namespace kube::async
