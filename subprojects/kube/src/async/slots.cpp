#include "kube/async/slots.hpp"

#include <list>

#include "kube/async/event.hpp"

namespace kube::async {

struct Slots::State {
  /// Leaves the line, or gives back what it has not taken, if its coroutine ends before it is served.
  struct Waiter {
    explicit Waiter(State& of) : state(of), served(of.executor), place(of.waiters.insert(of.waiters.end(), this)) {}
    ~Waiter() {
      if (has_taken) return;
      if (served.is_set())
        state.give_back();
      else
        state.waiters.erase(place);
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    State& state;
    Event served;
    std::list<Waiter*>::iterator place;
    bool has_taken = false;
  };

  void give_back() {
    if (waiters.empty()) {
      ++free;
      return;
    }
    waiters.front()->served.set();
    waiters.pop_front();
  }

  asio::any_io_executor executor;
  std::size_t free;
  std::list<Waiter*> waiters;
};

Slots::Slot::~Slot() {
  if (state_) state_->give_back();
}

Slots::Slots(const asio::any_io_executor& executor, std::size_t count)
    : state_(std::make_shared<State>(State{.executor = executor, .free = count, .waiters = {}})) {}

asio::awaitable<Slots::Slot> Slots::take() {
  const std::shared_ptr<State> state = state_;
  if (state->free > 0) {
    --state->free;
    co_return Slot(state);
  }
  State::Waiter waiter(*state);
  co_await waiter.served.wait();
  waiter.has_taken = true;
  co_return Slot(state);
}

std::size_t Slots::waiting() const { return state_->waiters.size(); }

}  // namespace kube::async
