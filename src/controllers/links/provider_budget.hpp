// What one provider may cost this process and its cluster: memory for what it shows, writes for what it tells.
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

/// Tokens that are there at once up to a burst, and come back at an even pace. One thread.
class TokenBucket {
 public:
  /// `per_second` tokens come back, up to `burst` are there.
  struct Rate {
    double per_second, burst;
  };
  TokenBucket(kube::async::Clock& clock, Rate rate);

  /// Takes tokens, and answers how long they have to be waited for.
  kube::Duration reserve(double tokens = 1);
  /// Gives back what was taken and has not been used.
  void give_back(double tokens) { next_ -= time_of(tokens); }
  /// Takes tokens where they are there, and answers whether they were.
  bool try_take(double tokens = 1);
  /// How long it takes until so many are there, or all that ever are; zero = they are there.
  kube::Duration lacks(double tokens = 1) const;
  bool is_full() const { return next_ <= clock_.now(); }

 private:
  kube::Duration time_of(double tokens) const { return kube::Duration(std::int64_t(tokens * 1e9 / rate_.per_second)); }

  kube::async::Clock& clock_;
  Rate rate_;
  kube::TimePoint next_;  ///< when the bucket is full again
};

/// Writes at home that a provider's word is the cause of, by their number and by what they have the database keep: each
/// write keeps the whole object anew until it is compacted. One thread.
class WriteBudget {
 public:
  /// Of each object so much counts for nothing; the rest is `max_bytes` at once and then `bytes_per_second`, so that a
  /// minute of it stays below 50 MiB.
  static constexpr std::size_t free_bytes = 8 << 10, max_bytes = 16 << 20, bytes_per_second = 512 << 10;
  struct Delayed {
    kube::Counter writes, bytes;
  };
  WriteBudget(kube::async::Clock& clock, TokenBucket::Rate writes, Delayed delayed);

  struct Write {
    std::size_t bytes = 0;   ///< of the object as it is stored; 0 = it is deleted
    std::size_t writes = 1;  ///< with those that follow from it
  };
  /// Takes the write, and answers how long its turn has to be waited for. Whoever waits need not hold what is written.
  kube::Duration reserve(Write write);
  /// Takes the write, and waits for its turn. Whoever is cancelled meanwhile has taken no bytes.
  asio::awaitable<void> take(Write write);
  /// Takes it where there is room; otherwise answers how long to wait before the next try.
  kube::Duration take_now(Write write);
  /// How long it takes until there is room for it.
  kube::Duration lacks(Write write) const;
  bool is_full() const { return number_.is_full() && bytes_.is_full(); }

 private:
  static double weight(Write write) { return write.bytes > free_bytes ? double(write.bytes - free_bytes) : 0; }
  void note_delay(Write write);

  kube::async::Clock& clock_;
  TokenBucket number_, bytes_;
  Delayed delayed_;
};

/// How large an object is likely to be with a patch of that many bytes: as large as it is, or as the patch.
std::size_t stored_bytes(const kube::Informer& cache, const kube::ObjectKey& key, std::size_t patch);

/// What is done because of one provider, whoever does it: its virtual nodes, replication, and the controllers that take
/// over its answers.
struct ProviderBudget {
  std::shared_ptr<kube::StoreUse> stores;
  WriteBudget home_writes;
  /// For what is good to know and true for moments only, in Events and in the status of pods that start slowly: where
  /// much happens at once, little of it is written, and the requests for one pod stay few, however many
  /// pods start.
  static constexpr TokenBucket::Rate asides_rate{.per_second = 0.5, .burst = 10};
  TokenBucket asides;
  /// Changes of Identities and VirtualNodes, of which sessions are made: most have a session begin anew.
  TokenBucket corrections;
  /// What it has been asked for.
  std::shared_ptr<ProviderOrders> orders;

  /// Takes a write of an Identity or a VirtualNode where there is room; otherwise answers how long to wait before the
  /// next try.
  kube::Duration correct_now(std::size_t bytes);
};

/// The budgets of all providers. A budget is forgotten, and a provider's account with it, when nobody has it and
/// nothing of it is in use: whoever comes back at once finds it as it was. One thread.
class ProviderBudgets {
 public:
  /// What `context` refers to outlives this.
  explicit ProviderBudgets(const Context& context) : context_(context) {}
  /// That of a cluster.
  std::shared_ptr<ProviderBudget> of(const std::string& cluster);
  /// Forgets what is not in use any more, from time to time. Ends only by cancellation.
  asio::awaitable<void> run();

 private:
  void prune();

  Context context_;
  std::map<std::string, std::shared_ptr<ProviderBudget>> known_;
};

/// Between two tries with a provider that shows more than is held of one.
inline constexpr std::chrono::minutes overflow_pause{5};
/// Why nothing more is read of a provider, a sentence; "" = it is within its budget.
std::string describe_overflow(const kube::StoreBudget& stores, const std::string& cluster);

}  // namespace liqo::controllers
