// The informers of one API server: one watch per resource and selection, however many readers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <list>
#include <memory>
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
  void release();

 private:
  friend class InformerSet;
  InformerSet* set_ = nullptr;
  Informer* informer_ = nullptr;
  std::vector<Informer::Subscription> subscriptions_;
};

/// Owns and runs the informers of one Api. `run()` must be running for informers to start and stop; it ends when
/// cancelled, with every informer stopped. Handles must be gone before the set is destroyed. One thread.
class InformerSet {
 public:
  InformerSet(const asio::any_io_executor& executor, Api& api, Metrics& metrics);
  ~InformerSet();
  InformerSet(const InformerSet&) = delete;
  InformerSet& operator=(const InformerSet&) = delete;

  /// The informer of that scope, shared with everybody who asked for the same.
  InformerHandle acquire(const InformerScope& scope);
  asio::awaitable<void> run();
  Api& api() { return api_; }
  /// True once every informer that runs has synced.
  bool has_synced() const;
  /// The first informer's trouble, if any cannot read.
  std::optional<Failure> trouble() const;

 private:
  friend class InformerHandle;
  struct Slot {
    Slot(const asio::any_io_executor& executor, Api& api, const InformerScope& scope, Metrics& metrics)
        : informer(executor, api, scope, metrics), group(executor) {}
    Informer informer;
    async::TaskGroup group;
    int readers = 0;
    bool started = false;
  };
  void release(Informer& informer);

  asio::any_io_executor executor_;
  Api& api_;
  Metrics& metrics_;
  async::Event changed_;
  std::list<Slot> slots_;
};

}  // namespace kube
