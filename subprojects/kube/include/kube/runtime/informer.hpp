// List and watch of one resource and selection into a store, for any number of readers.
#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/k8s/selector.hpp"
#include "kube/runtime/backoff.hpp"
#include "kube/runtime/change.hpp"
#include "kube/runtime/outage.hpp"
#include "kube/runtime/server_history.hpp"
#include "kube/runtime/store.hpp"
#include "kube/runtime/store_budget.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"

namespace kube {

/// What an informer watches, and how it keeps it.
struct InformerScope {
  Resource resource;
  std::string ns;  ///< "" = all namespaces
  Selection selection;
  /// Only metadata are read and stored: for kinds whose content is rarely needed, and is read when it is.
  bool metadata_only = false;
  /// The list comes in pages even if the server can stream it: for few objects that are wanted soon. A stream ends with
  /// the server's next bookmark, which takes about a second, and only once the server's cache has caught up with etcd.
  bool in_pages = false;
  /// Removes what no reader needs before an object is stored; managedFields go always.
  void (*prune)(json::object& tree) = nullptr;
  bool operator==(const InformerScope&) const = default;
};

/// Keeps a Store equal to what the server has. `run()` lists (streamed if the server can, KEP-3157, else in pages) and
/// watches. One thread.
///
/// Guarantees: readers see every change of a key as a call of their handler after the store has it; several changes may
/// come as one. A watch that broke is resumed after a short silence, and after a long one if the server's history is
/// shown to be the same; otherwise, and after 410, the list is read again. If the server's history has gone back,
/// because its database was restored, the store is read again and readers are notified of every key.
///
/// Failures: while the server is away the store keeps its last state, and pauses between failed tries grow; none is
/// shorter than what the server asked for (Retry-After). An object that cannot be read is skipped, logged and counted,
/// and so is one outside of the namespace and selection, which only a server sends that does not keep to what it is
/// asked for. If the event of an object is too long, the store keeps what it has of it. A watch that breaks three times
/// at an event that cannot be read is given up for a list. What takes more memory than the account of the Api has left
/// is read again after 5 s, at last after 5 min.
///
/// Lifetime: run() ends only when it is cancelled or its budget is exceeded.
class Informer {
 public:
  /// Called with what changed; usually it adds a key to a queue. Must not suspend. A std::exception that it throws is
  /// logged and counted, and the other readers are notified; anything else is thrown by what called the handler, run()
  /// or observe(). A handler may end its own subscription and others.
  using Handler = std::function<void(const Change&)>;
  /// Called once, when the first complete list has been taken.
  using SyncedHandler = std::function<void()>;

  /// Budget, history and outage outlive the informer. Once the budget is exceeded, run() returns. Without a history the
  /// list is read again after each long silence.
  Informer(const asio::any_io_executor& executor, Api& api, InformerScope scope, Metrics& metrics,
           StoreBudget* budget = nullptr, ServerHistory* history = nullptr, Outage* outage = nullptr);
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  /// Lists and watches until it is cancelled or the budget is exceeded. Call once at a time.
  asio::awaitable<void> run();

  /// The object under a key, as of now.
  std::optional<Object> find(const ObjectKey& key) const { return store_.find(key); }
  /// All objects, those of a namespace, and those of an index, as of now: see StoredObjects.
  StoredObjects objects() const { return store_.objects(); }
  StoredObjects objects_in(std::string_view ns) const { return store_.objects_in(ns); }
  StoredObjects objects(std::string_view index, std::string_view value) const { return store_.objects(index, value); }
  const Store& store() const { return store_; }
  /// Adds an index; see Store::add_index().
  void add_index(std::string name, Store::IndexFunction values_of) {
    store_.add_index(std::move(name), std::move(values_of));
  }
  const InformerScope& scope() const { return scope_; }

  /// True once a complete list has been taken. Stays true afterwards.
  bool has_synced() const { return synced_.is_set(); }
  asio::awaitable<void> wait_synced() { return synced_.wait(); }
  /// Whether there is nothing to wait for: it has synced, or the server has said that it has no such kind. Stays true,
  /// also while the server cannot be asked.
  bool is_known() const { return has_synced() || is_absent_; }
  /// Every change up to this resource version has been taken from the server; 0 while the list has to be read again.
  /// Versions of one resource are ordered (KEP-5504).
  std::uint64_t version() const {
    return resource_version_.empty() ? 0 : std::max(refreshed_, version_number(resource_version_));
  }
  /// Distrusts all that was read until now: the next list replaces every object and notifies readers of every key. For
  /// a caller who knows that the server's database was restored. Not while run() runs.
  void forget();
  /// Brings the store to a state that the server has had since this call, however late the watch is: a list of metadata
  /// is compared with the store, and what differs is read. run() goes on meanwhile, and older events of its watch are
  /// ignored. A failure (the server does not answer, or a list is under way) changes nothing: try again.
  asio::awaitable<Result<void>> refresh();
  /// How many complete lists have been taken. Between two of them objects may have come and gone without a
  /// notification.
  std::uint64_t lists() const { return taken_lists_; }
  /// Why the informer cannot read at the moment; nothing while list or watch work.
  const std::optional<Failure>& trouble() const { return trouble_; }

  /// Takes in the answer to a write of ours, so that readers see it before the watch brings it. An object outside of
  /// the scope is not stored, and one that this write took out of it is removed.
  void observe(Object object);
  /// Takes in that the server has answered NotFound for this key. Applies only while the store holds that UID.
  void observe_gone(const ObjectKey& key, std::string_view uid);

  /// A subscriber. The informer alone uses this.
  struct Reader {
    Handler changed;
    SyncedHandler synced;
    bool gone = false;
  };
  using Subscription = std::list<Reader>::iterator;
  /// Adds a reader; `changed` is called for changes from now on (existing keys: see store()), `synced` when the first
  /// list is complete, unless it is already.
  Subscription subscribe(Handler changed, SyncedHandler synced = {}) {
    return readers_.insert(readers_.end(), Reader{std::move(changed), std::move(synced)});
  }
  /// Ends a subscription, also from within a handler. Its reader is not notified any more.
  void unsubscribe(Subscription subscription);
  /// Calls a handler for every object that is there, as for a change.
  void notify_present(const Handler& changed);
  /// Sets the one handler that is called when the server's history was found to have gone back, before anything is read
  /// again. Its argument is true if refresh() has found it: then the owner has to restart this informer, too. Must not
  /// suspend. InformerSet::acquire() sets it for the informers of a set.
  void on_rewind(std::function<void(bool itself)> handler) { rewound_ = std::move(handler); }

 private:
  /// One list or watch, to its end.
  asio::awaitable<Result<void>> read_once();
  asio::awaitable<Result<void>> list_pages();
  asio::awaitable<Result<void>> watch_once();
  /// After a long silence: lets the watch go on if the history is the same; otherwise a list is next.
  asio::awaitable<Result<void>> look_back();
  /// Distrusts all that is known, because the server's history has gone back. The failure that it returns ends the list
  /// or watch.
  Result<void> doubt(std::uint64_t version, std::uint64_t known);
  /// Logs and counts that the history has gone back, and calls the handler of on_rewind(). Returns the failure of it.
  Result<void> report_rewind(std::uint64_t version, std::uint64_t known, bool itself);
  asio::awaitable<Result<void>> consume(WatchStream& stream);
  asio::awaitable<Result<std::optional<wire::WatchEvent>>> next_event(WatchStream& stream);
  /// Whether lists are read in pages at the moment.
  bool reads_pages() const { return api_.clock().now() < pages_until_; }
  /// Sets until when a streamed list has to end, now that it is open.
  void bound_list();
  /// Moves that on as the list goes on.
  void see_list(wire::WatchEventType type, bool is_new);
  /// Takes in why a watch ended. If it ends again and again at an event that cannot be read, a list is next.
  void see_end(const Failure& failure);
  /// Handles one event. A failure ends the watch.
  Result<void> take(wire::WatchEvent event);
  void hear();
  /// Objects by key: nothing if there is none any more. What cannot be read is left out.
  using Read = std::map<ObjectKey, std::optional<Object>>;
  asio::awaitable<Result<Read>> read_each(std::set<ObjectKey> keys);
  void begin_list();
  /// Takes one object of a list. False: there is no room for more.
  bool take_listed(wire::ListItem item);
  void put(Object object);
  /// Whether a server that keeps to what it was asked for would not have sent this object.
  bool is_foreign(const Object& object) const;
  /// Counts an object that is not taken. Of many that go for one reason the log has some.
  void skip(std::string_view why, const Field& fact);
  void skip_foreign(const Object& object);
  void skip_deep(const Object& object);
  void skip_long(const Object& object);
  /// Keeps what is known of an object that is there but cannot be read.
  void skip_unread(const ObjectKey& key, std::string_view why);
  /// Failure: the list shows that the server's history has gone back.
  Result<void> complete_list(std::string_view resource_version);
  /// Stores an object, in the form that the store keeps, and notifies the readers if that changes anything.
  void keep(Object object);
  /// Removes an object from the store, and notifies the readers. False if it is not there, or newer than `version`.
  bool drop(const ObjectKey& key, std::uint64_t version);
  /// Runs what is not ours: a std::exception that it throws is logged and counted, anything else goes on to the caller.
  void contain(const ObjectKey& key, const std::function<void()>& foreign);
  /// While one lives, readers that unsubscribe stay in the list.
  struct Notifying {
    explicit Notifying(Informer& of) : informer(of) { ++informer.notifying_; }
    ~Notifying();
    Notifying(const Notifying&) = delete;
    Notifying& operator=(const Notifying&) = delete;
    Informer& informer;
  };
  void notify(const ObjectKey& key, const Object* now, Store::PreviousText previous);
  void notify_readers(const Change& change);
  /// Updates metrics and budget to what the store holds now.
  void account(std::size_t bytes, std::size_t objects);
  bool is_over_budget() const { return budget_ && budget_->is_exceeded(); }
  /// How long to wait after Errc::too_large.
  Duration pause_of_refusal(TimePoint now);
  void report(const Failure& failure);
  /// Ends the trouble: the informer can read.
  void be_well();

  Api& api_;
  InformerScope scope_;
  Store store_;
  StoreBudget* budget_;
  ServerHistory* history_;
  Outage* outage_;
  async::Event synced_;
  std::list<Reader> readers_;
  /// A change that a handler has made by observe(). Readers are notified of it once all of them were notified of the
  /// change that this handler was called for.
  struct DeferredChange {
    ObjectKey key;
    std::optional<Object> now;
    Store::PreviousText previous;
  };
  std::list<DeferredChange> deferred_;
  bool is_in_turn_ = false;
  int notifying_ = 0;
  std::function<void(bool itself)> rewound_;
  std::optional<Selector> selector_;  ///< nothing if the selection cannot be read as one
  std::string resource_version_;      ///< where the next watch starts; "" = list first
  std::uint64_t refreshed_ = 0;       ///< the store is of this version, and the watch may be behind it
  std::uint64_t taken_lists_ = 0, begun_lists_ = 0;
  std::uint64_t newest_ = 0;                   ///< the newest version that the server has shown to exist
  HistoryWitness witness_;                     ///< by the watch since its list
  std::uint64_t changed_at_ = 0;               ///< version of the newest change that is in the store, deletions too
  std::set<ObjectKey> gone_unseen_;            ///< deletions that are in the store, and that the watch has not shown
  TimePoint pages_until_{};                    ///< until then no list is streamed
  int broken_lists_ = 0;                       ///< streamed lists that ended before they were complete
  TimePoint list_due_{}, list_end_{};          ///< of the streamed list: when it counts as silent, and its last moment
  bool list_has_changes_ = false;              ///< the streamed list has shown changes, so all there was has come
  std::string unreadable_at_;                  ///< the version at which the last watch broke at what cannot be read
  int unreadable_ = 0;                         ///< how often it has at that version
  std::optional<std::set<ObjectKey>> listed_;  ///< keys of the list that is under way
  std::uint64_t newest_before_list_ = 0;
  bool list_is_older_ = false;  ///< it shows an object older than it was known before
  TimePoint alive_{};           ///< the server's last sign of life that is believed
  TimePoint heard_{},
      heard_before_{};    ///< when the last events came, and those before them that did not come with them
  TimePoint opened_{};    ///< of the watch that is open or was last
  TimePoint shown_at_{};  ///< when a watch was opened or has sent something, for people to see
  std::optional<Failure> trouble_;
  std::string reported_;    ///< text of the failure that the log had last, "" = it has none of this trouble
  bool is_absent_ = false;  ///< the server once had no such kind
  Repeats skips_;           ///< what the log has of objects that are not taken
  int failures_ = 0;
  int refusals_ = 0;     ///< reads that ended by Errc::too_large, with no long time between them
  TimePoint refused_{};  ///< when the last of them was over, pause included
  BackoffPolicy backoff_{std::chrono::milliseconds(800), std::chrono::seconds(30)};
  Log log_;
  Counter lists_, watches_, events_, skipped_, rewinds_;
  Gauge objects_, bytes_;  ///< of all informers of one resource together
  Metrics::Reading age_;
  std::size_t counted_objects_ = 0, counted_bytes_ = 0;
};

}  // namespace kube
