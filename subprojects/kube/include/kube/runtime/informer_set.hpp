// The informers of one API server: one watch per resource and selection, however many readers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <exception>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/async/task_group.hpp"
#include "kube/runtime/informer.hpp"

namespace kube {

class InformerSet;

/// A reader's share of an informer. While it lives the informer runs; its handlers end with it.
class InformerHandle {
 public:
  InformerHandle() = default;
  ~InformerHandle() { release(); }
  InformerHandle(InformerHandle&& other) noexcept { *this = std::move(other); }
  InformerHandle& operator=(InformerHandle&& other) noexcept;

  Informer* operator->() const { return informer_; }
  Informer& operator*() const { return *informer_; }
  explicit operator bool() const { return informer_ != nullptr; }
  /// Adds a reader for as long as this handle lives.
  void subscribe(Informer::Handler changed, Informer::SyncedHandler synced = {}) {
    subscriptions_.push_back(informer_->subscribe(std::move(changed), std::move(synced)));
  }
  /// Adds a reader for as long as this handle lives, and first calls `changed` for what is there, because others may
  /// have this watch already. A std::exception that it throws is logged then, too; anything else is thrown by this
  /// call.
  void follow(const Informer::Handler& changed, Informer::SyncedHandler synced = {});
  void release();

 private:
  friend class InformerSet;
  InformerSet* set_ = nullptr;
  Informer* informer_ = nullptr;
  std::size_t* readers_ = nullptr;  ///< how many handles this informer has
  std::vector<Informer::Subscription> subscriptions_;
};

/// Owns and runs the informers of one Api. Informers start and stop only while `run()` runs; that ends when it is
/// cancelled, or with the exception by which an informer ended. Every informer has stopped by then. If one informer
/// finds that the server's history has gone back, all others read again, too. If one finds it the same after an
/// interruption, the others that have the same history need not ask (see share_history()). Handles must be gone before
/// the set is destroyed. One thread.
class InformerSet {
 public:
  /// The budget outlives the set. Once it is exceeded, no informer of the set reads on.
  InformerSet(const asio::any_io_executor& executor, Api& api, Metrics& metrics, StoreBudget* budget = nullptr);
  ~InformerSet();
  InformerSet(const InformerSet&) = delete;
  InformerSet& operator=(const InformerSet&) = delete;

  /// The informer of that scope, shared with everybody who asked for the same.
  InformerHandle acquire(const InformerScope& scope);
  /// From now on every informer of that resource prunes by `cut` if its scope has no `prune`.
  void prune(const Resource& resource, void (*cut)(json::object& tree)) { prunes_.emplace_back(resource, cut); }
  /// From now on objects of the kinds of this group count as stored in one database with those of the built-in groups.
  /// If one informer of these kinds finds the history unchanged after an interruption, the others need not ask. True of
  /// custom resources; not of groups that an aggregated API server serves. See ServerHistory.
  void share_history(std::string_view group) { history_.share(group); }
  /// Runs the informers, those that are acquired later, too.
  asio::awaitable<void> run();
  /// Makes every informer list again and notify its readers of every key: for a caller that has found that the server's
  /// database was restored.
  void read_anew();
  Api& api() { return api_; }
  /// True once every informer that runs has synced.
  bool has_synced() const;
  /// The failure of the first informer that cannot read at the moment; nothing if all can.
  std::optional<Failure> trouble() const;
  /// The failure of the first informer that cannot read at the moment by a failure of this kind; nothing if there is
  /// none.
  std::optional<Failure> trouble(Errc of) const;

 private:
  friend class InformerHandle;
  struct Slot {
    Slot(const asio::any_io_executor& executor, Api& api, const InformerScope& scope, Metrics& metrics,
         StoreBudget* budget, ServerHistory& history, Outage& outage)
        : informer(executor, api, scope, metrics, budget, &history, &outage),
          group(std::make_unique<async::TaskGroup>(executor)) {}
    Informer informer;
    std::unique_ptr<async::TaskGroup> group;  ///< one for each time that the informer is started
    std::size_t readers = 0;
    bool started = false;
    bool doubted = false;  ///< to be started again, believing nothing
    bool ending = false;
  };
  /// The slot of that scope that takes readers; null if there is none.
  Slot* slot_of(const InformerScope& scope);
  Slot& add_slot(const InformerScope& scope);
  std::list<Slot>::iterator remove_slot(std::list<Slot>::iterator slot);
  /// One reader of a slot has gone.
  void release(std::size_t& readers);
  void doubt_others(const Slot& witness);
  /// Starts and stops informers as readers come and go, until it is cancelled or an informer ends by an exception.
  asio::awaitable<void> keep_running();
  asio::awaitable<void> stop_all();
  /// Runs it, and wakes run() if it ends by an exception.
  asio::awaitable<void> watch_over(Informer& informer);

  asio::any_io_executor executor_;
  Api& api_;
  Metrics& metrics_;
  StoreBudget* budget_;
  ServerHistory history_;
  Outage outage_;
  async::Event changed_;
  std::list<Slot> slots_;
  std::unordered_multimap<std::size_t, Slot*> by_scope_;                   ///< by the hash of the scope
  std::vector<std::pair<Resource, void (*)(json::object& tree)>> prunes_;  ///< see prune()
  std::exception_ptr lost_;                                                ///< by which an informer ended
};

}  // namespace kube
