#include "kube/async/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cassert>

#include "kube/telemetry/log.hpp"

namespace kube::async {

bool is_cancellation(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

std::string describe(const std::exception_ptr& failure) {
  if (!failure) return "nothing";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

namespace {

void log_lost(const std::exception_ptr& failure) {
  Log("task-group").error("a worker has ended by an exception", {{"error", describe(failure)}});
}

}  // namespace

namespace detail {

asio::awaitable<void> contained(asio::awaitable<void> child, ChildEnd& end) {
  try {
    co_await std::move(child);
  } catch (const boost::system::system_error& error) {
    end = {std::current_exception(), error.code() == asio::error::operation_aborted};
  } catch (...) {
    end.failure = std::current_exception();
  }
  // co_spawn of Boost 1.81 awaits once more after the coroutine. If that was cancelled without ever having waited (it
  // cancelled its own group at once), this await throws, and the end is lost. So the end is no longer a cancelled one.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
}

}  // namespace detail

TaskGroup::TaskGroup(asio::any_io_executor executor, OnFailure policy)
    : executor_(std::move(executor)), idle_(executor_, asio::steady_timer::time_point::max()), policy_(policy) {}

TaskGroup::~TaskGroup() { assert(children_.empty()); }

void TaskGroup::spawn(asio::awaitable<void> child) {
  const auto self = children_.emplace(children_.end());
  // The child's end is posted, so that its frame is gone before join() returns and the signal is not destroyed while
  // it is being emitted.
  asio::co_spawn(executor_, detail::contained(begin(std::move(child), *self), self->end),
                 asio::bind_cancellation_slot(self->stop.slot(), [this, self](const std::exception_ptr&) {
                   asio::post(executor_, [this, self] { finished(self); });
                 }));
  if (stopping_) cancel(*self);
}

asio::awaitable<void> TaskGroup::begin(asio::awaitable<void> child, Child& self) {
  self.begun = true;
  if (self.cancelled) self.stop.emit(asio::cancellation_type::terminal);
  co_await std::move(child);
}

void TaskGroup::cancel(Child& child) {
  child.cancelled = true;
  // co_spawn throws into the loop if a coroutine is cancelled before it has begun.
  if (child.begun) child.stop.emit(asio::cancellation_type::terminal);
}

void TaskGroup::cancel() {
  stopping_ = true;
  for (Child& child : children_) cancel(child);
}

asio::awaitable<void> TaskGroup::join() {
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  bool was_cancelled = false;
  while (!children_.empty()) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      was_cancelled = true;
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
      cancel();
    }
    boost::system::error_code ignored;
    co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  // A cancellation that came with the last child's end must not be lost: the caller would go on as if it had not been
  // cancelled.
  const auto state = co_await asio::this_coro::cancellation_state;
  was_cancelled = was_cancelled || state.cancelled() != asio::cancellation_type::none;
  co_await asio::this_coro::throw_if_cancelled(throwing);
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
  if (was_cancelled) throw boost::system::system_error(asio::error::operation_aborted);
}

asio::awaitable<void> TaskGroup::stop() {
  // A cancellation of the caller meanwhile waits, too, but is not forgotten: it throws at the caller's next wait.
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  cancel();
  while (!children_.empty()) {
    boost::system::error_code ignored;
    co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (first_failure_ && policy_ == OnFailure::cancel_all) log_lost(first_failure_);
  first_failure_ = nullptr;
  co_await asio::this_coro::throw_if_cancelled(throwing);
}

void TaskGroup::finished(Children::iterator self) {
  const detail::ChildEnd end = std::move(self->end);
  children_.erase(self);
  if (end.failure && !end.cancelled) {
    // join() throws only the first failure.
    if (first_failure_ || policy_ == OnFailure::keep_others) log_lost(end.failure);
    if (!first_failure_) first_failure_ = end.failure;
    if (policy_ == OnFailure::cancel_all) cancel();
  }
  if (children_.empty()) idle_.cancel();
}

}  // namespace kube::async
