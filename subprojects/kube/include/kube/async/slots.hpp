// A counting semaphore: it bounds how much of one kind of work is under way.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>

namespace kube::async {

namespace asio = boost::asio;

/// First come, first served. One thread.
class Slots {
  struct State;

 public:
  /// One slot, taken for as long as it lives; it may outlive the Slots.
  class Slot {
   public:
    explicit Slot(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~Slot();
    Slot(Slot&&) noexcept = default;
    Slot& operator=(Slot&&) = delete;

   private:
    std::shared_ptr<State> state_;
  };

  /// `count`: how many are taken at a time.
  Slots(const asio::any_io_executor& executor, std::size_t count);

  /// Waits until a slot is free. Cancellation (terminal) throws operation_aborted.
  asio::awaitable<Slot> take();
  /// How many callers wait for a slot: for tests.
  std::size_t waiting() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace kube::async
