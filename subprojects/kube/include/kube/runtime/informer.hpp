// List and watch of one resource and selection into a store, for any number of readers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/backoff.hpp"
#include "kube/runtime/store.hpp"
#include "kube/telemetry/log.hpp"

namespace kube {

/// What an informer watches, and how it keeps it.
struct InformerScope {
  Resource resource;
  std::string ns;  ///< "" = all namespaces
  Selection selection;
  /// Removes what no reader needs before an object is stored; managedFields go always.
  void (*prune)(json::object& tree) = nullptr;
  bool operator==(const InformerScope&) const = default;
};

/// Keeps a Store equal to what the server has. `run()` lists (streamed where the server can, KEP-3157, else in pages),
/// watches, resumes after drops, lists again after 410, and never ends but by cancellation. Readers see every change of
/// a key as a call of their handler after the store has it; several changes may come as one. While the server is away
/// the store keeps its last state. One thread.
class Informer {
 public:
  /// Called with the key that changed. Must not suspend or throw; usually it adds the key to a queue.
  using Handler = std::function<void(const ObjectKey&)>;
  /// Called once, when the first complete list has been taken.
  using SyncedHandler = std::function<void()>;

  Informer(const asio::any_io_executor& executor, Api& api, InformerScope scope, Metrics& metrics);
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  asio::awaitable<void> run();

  /// The object under a key, as of now.
  std::optional<Object> find(const ObjectKey& key) const { return store_.find(key); }
  const Store& store() const { return store_; }
  /// Adds an index; before run().
  void add_index(std::string name, Store::IndexFunction values_of) {
    store_.add_index(std::move(name), std::move(values_of));
  }
  const InformerScope& scope() const { return scope_; }

  /// True once a complete list has been taken. Stays true afterwards.
  bool has_synced() const { return synced_.is_set(); }
  asio::awaitable<void> wait_synced() { return synced_.wait(); }
  /// Every change up to this resource version has been taken from the server; 0 while the list has to be read anew.
  /// Versions of one resource are ordered (KEP-5504).
  std::uint64_t version() const { return Store::version_number(resource_version_); }
  /// Why the informer cannot read at the moment; nothing while list or watch work.
  const std::optional<Failure>& trouble() const { return trouble_; }

  /// Takes the answer of a write of ours, so that readers see it before the watch brings it.
  void observe(Object object);
  /// Takes a deletion that the server has answered to us with NotFound: nothing under that key as of now. Applies only
  /// if the store still holds that UID.
  void observe_gone(const ObjectKey& key, std::string_view uid);

  struct Reader {
    Handler changed;
    SyncedHandler synced;
  };
  using Subscription = std::list<Reader>::iterator;
  /// Adds a reader; `changed` is called for changes from now on (existing keys: see store()), `synced` when the first
  /// list is complete, unless it is already.
  Subscription subscribe(Handler changed, SyncedHandler synced = {}) {
    return readers_.insert(readers_.end(), Reader{std::move(changed), std::move(synced)});
  }
  void unsubscribe(Subscription subscription) { readers_.erase(subscription); }

 private:
  /// What a watch left off with.
  struct WatchEnd {
    std::optional<Failure> failure;
    bool had_events = false;
  };
  asio::awaitable<Result<void>> list_pages();
  asio::awaitable<WatchEnd> watch_once();
  asio::awaitable<WatchEnd> consume(WatchStream& stream);
  /// Handles one event. A failure ends the watch.
  Result<void> take(wire::WatchEvent event);
  void put(Object object);
  void complete_list(std::string_view resource_version);
  void notify(const ObjectKey& key);
  void report(const Failure& failure);

  Api& api_;
  InformerScope scope_;
  Store store_;
  async::Event synced_;
  std::list<Reader> readers_;
  std::string resource_version_;               ///< where the next watch starts; "" = list first
  bool streaming_list_ = true;                 ///< until the server refuses it
  std::optional<std::set<ObjectKey>> listed_;  ///< keys of the list that is under way
  std::optional<Failure> trouble_;
  int failures_ = 0;
  BackoffPolicy backoff_;
  Log log_;
  Counter lists_, watches_, events_;
  Gauge objects_, bytes_;
};

}  // namespace kube
