// What one provider may cost this process and its cluster: memory for what it shows, writes for what it tells.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "kube/async/clock.hpp"
#include "kube/runtime/store_budget.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// A token bucket: writes at once while there are tokens, else in turn, at an even pace. One thread.
class WriteBudget {
 public:
  /// `per_second` tokens come back, up to `burst` are there.
  WriteBudget(kube::async::Clock& clock, double per_second, double burst, kube::Counter delayed);

  /// Takes one token, waiting for it where none is left.
  asio::awaitable<void> take();
  /// Takes one token, and answers how long it has to be waited for.
  kube::Duration reserve();
  /// Takes one token where there is one, and answers whether there was.
  bool try_take();

 private:
  kube::async::Clock& clock_;
  kube::Duration interval_, slack_;  ///< between two tokens; until an empty bucket is full
  kube::TimePoint next_{};           ///< when the bucket is full again
  kube::Counter delayed_;
};

/// The budget for asides: with it the requests for one pod stay few, however many pods start.
inline constexpr double max_asides = 10, asides_per_second = 0.5;

/// Shared by the sessions of all virtual nodes of one provider.
struct ProviderBudget {
  std::shared_ptr<kube::StoreUse> stores;
  WriteBudget home_writes;
  /// For what is good to know and true for moments only, in Events and in the status of pods that start slowly: where
  /// much happens at once, little of it is written.
  WriteBudget asides;
};

}  // namespace liqo::controllers
