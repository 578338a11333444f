#include "kube/testing/sim/simulator.hpp"

#include <boost/asio/co_spawn.hpp>
#include <stdexcept>
#include <string>

namespace kube::testing {

namespace {
/// Far more than any burst of work at one instant takes; a loop that posts itself passes it in a second.
constexpr std::uint64_t max_handlers_per_instant = 2'000'000;
}  // namespace

bool Simulator::settle() {
  std::uint64_t budget = max_handlers_per_instant;
  while (budget > 0 && loop_.run_one()) --budget;
  return budget > 0;
}

Simulator::End Simulator::run_until(const std::function<bool()>& reached, Duration limit) {
  const TimePoint end = clock_.now() + limit;
  while (true) {
    if (!settle()) return End::livelock;
    if (reached()) return End::reached;
    const auto next = clock_.next();
    if (!next) return End::stuck;
    if (*next > end) {
      clock_.advance_to(end);
      return End::out_of_time;
    }
    clock_.advance_to_next();
  }
}

Simulator::End Simulator::run_for(Duration duration) {
  const TimePoint end = clock_.now() + duration;
  const End how = run_until([] { return false; }, duration);
  if (how == End::stuck) clock_.advance_to(end);
  return how == End::livelock ? how : End::reached;
}

void Simulator::run(asio::awaitable<void> coroutine, Duration limit) {
  // Shared with the handler: a coroutine that does not end in time outlives this call.
  struct Outcome {
    bool ended = false;
    std::exception_ptr failure;
  };
  auto outcome = std::make_shared<Outcome>();
  asio::co_spawn(executor(), std::move(coroutine), [outcome](std::exception_ptr thrown) {
    outcome->ended = true;
    outcome->failure = std::move(thrown);
  });
  const End how = run_until([outcome] { return outcome->ended; }, limit);
  if (how != End::reached)
    throw std::runtime_error("the simulated coroutine did not end: " + std::string(to_string(how)));
  if (outcome->failure) std::rethrow_exception(outcome->failure);
}

std::string_view to_string(Simulator::End end) {
  switch (end) {
    case Simulator::End::reached:
      return "reached";
    case Simulator::End::out_of_time:
      return "out of virtual time";
    case Simulator::End::stuck:
      return "stuck: nothing is ready and nobody sleeps";
    case Simulator::End::livelock:
      return "livelock: handlers without end at one instant";
  }
  return "?";
}

}  // namespace kube::testing
