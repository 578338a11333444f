// The budget of one provider: memory for the objects that are read of it, and writes that its reports cause at home.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "controllers/common/context.hpp"
#include "kube/async/clock.hpp"
#include "kube/runtime/informer.hpp"
#include "kube/runtime/store_budget.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

class ProviderOrders;

/// A token bucket: tokens can be taken at once up to a burst, and come back at an even pace. One thread.
class TokenBucket {
 public:
  /// `per_second` tokens come back, and at most `burst` are kept.
  struct Rate {
    double per_second, burst;
  };
  TokenBucket(kube::async::Clock& clock, Rate rate);

  /// Takes tokens, and returns how long the caller has to wait before it uses them.
  kube::Duration reserve(double tokens = 1);
  /// Gives back what was taken and has not been used.
  void give_back(double tokens) { next_ -= time_of(tokens); }
  /// Takes tokens if there are enough, and returns whether there were.
  bool try_take(double tokens = 1);
  /// How long it takes until so many tokens are there (at most the burst); zero = they are there.
  kube::Duration lacks(double tokens = 1) const;
  bool is_full() const { return next_ <= clock_.now(); }

 private:
  kube::Duration time_of(double tokens) const { return kube::Duration(std::int64_t(tokens * 1e9 / rate_.per_second)); }

  kube::async::Clock& clock_;
  Rate rate_;
  kube::TimePoint next_;  ///< when the bucket is full again
};

/// Bounds the writes at home that a provider causes, by their number and by the bytes that the database stores for
/// them: it keeps a copy of the whole object for each write until it is compacted. One thread.
class WriteBudget {
 public:
  /// The first `free_bytes` of each object are free. The rest may be `max_bytes` at once and then `bytes_per_second`,
  /// so that a minute of writes stays below 50 MiB.
  static constexpr std::size_t free_bytes = 8 << 10, max_bytes = 16 << 20, bytes_per_second = 512 << 10;
  struct Delayed {
    kube::Counter writes, bytes;
  };
  WriteBudget(kube::async::Clock& clock, TokenBucket::Rate writes, Delayed delayed);

  struct Write {
    std::size_t bytes = 0;   ///< of the object as it is stored; 0 = it is deleted
    std::size_t writes = 1;  ///< this one and those that follow from it
  };
  /// Reserves the write, and returns how long to wait for its turn. The caller need not keep the object in memory
  /// meanwhile.
  kube::Duration reserve(Write write);
  /// Reserves the write, and waits for its turn. A caller that is cancelled meanwhile has taken no bytes.
  asio::awaitable<void> take(Write write);
  /// Takes the write if there is room; otherwise returns how long to wait before the next try.
  kube::Duration take_now(Write write);
  /// How long it takes until there is room for the write.
  kube::Duration lacks(Write write) const;
  bool is_full() const { return number_.is_full() && bytes_.is_full(); }

 private:
  static double weight(Write write) { return write.bytes > free_bytes ? double(write.bytes - free_bytes) : 0; }
  void note_delay(Write write);

  kube::async::Clock& clock_;
  TokenBucket number_, bytes_;
  Delayed delayed_;
};

/// The likely size of an object after a patch of that many bytes: the larger of its present size and the patch.
std::size_t stored_bytes(const kube::Informer& cache, const kube::ObjectKey& key, std::size_t patch);

/// Bounds what all parts of the process do because of one provider: its virtual nodes, replication, and the controllers
/// that take over its answers.
struct ProviderBudget {
  std::shared_ptr<kube::StoreUse> stores;
  WriteBudget home_writes;
  /// For reports that are soon out of date: Events, and the status of pods that start slowly. When much
  /// happens at once only a little of it is written. The requests for one pod stay few, however many pods start.
  static constexpr TokenBucket::Rate best_effort_rate{.per_second = 0.5, .burst = 10};
  TokenBucket best_effort;
  /// Changes of Identities and VirtualNodes. Sessions are made from these, so most changes restart a session.
  TokenBucket corrections;
  /// The orders that wait for this provider.
  std::shared_ptr<ProviderOrders> orders;

  /// Takes the write of an Identity or a VirtualNode if there is room; otherwise returns how long to wait before the
  /// next try.
  kube::Duration correct_now(std::size_t bytes);
};

/// The budgets of all providers. A budget, and the provider's account with it, is dropped once no caller holds it and
/// nothing of it is in use: a provider that comes back at once finds its budget as it was. One thread.
class ProviderBudgets {
 public:
  /// What `context` refers to outlives this.
  explicit ProviderBudgets(const Context& context) : context_(context) {}
  /// The budget of the provider with that cluster ID.
  std::shared_ptr<ProviderBudget> of(const std::string& cluster);
  /// Drops unused budgets from time to time. Ends only by cancellation.
  asio::awaitable<void> run();

 private:
  void prune();

  Context context_;
  std::map<std::string, std::shared_ptr<ProviderBudget>> known_;
};

/// The pause between two tries with a provider that has more objects than the budget lets this process hold.
inline constexpr std::chrono::minutes overflow_pause{5};
/// Why nothing more is read of a provider, as a sentence; "" = it is within its budget.
std::string describe_overflow(const kube::StoreBudget& stores, const std::string& cluster);

}  // namespace liqo::controllers
