// A controller: a queue of keys, and a coroutine that brings one key's world to where it should be.
// Tested by test/runtime/controller_test.cpp, test/runtime/outcome_test.cpp and test/runtime/watch_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/schedule.hpp"
#include "kube/runtime/store.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/metrics.hpp"
#include "kube/telemetry/repeats.hpp"

namespace kube {

namespace asio = boost::asio;

class Change;
class InformerHandle;

/// How one reconcile ended.
class [[nodiscard]] Outcome {
 public:
  /// What KUBE_CO_TRY passes on is tried again. Explicit, so that no aggregate that begins with an Outcome is made of
  /// it.
  explicit Outcome(PassedOn<Failure> failed) : failure_(std::move(failed.failure)) {}
  /// Nothing is left to do until something changes.
  static Outcome done() { return {}; }
  /// Went well, and is due again after a time, which is rounded up to whole seconds from 10 s on.
  static Outcome again_after(Duration delay) {
    Outcome out;
    out.delay_ = delay;
    return out;
  }
  /// Failed; tried again with growing pauses. If the failure is an answer of the server, none of them is shorter than
  /// what that asked for (Retry-After). A key that is enqueued meanwhile is due at once all the same.
  static Outcome retry(Failure failure) {
    Outcome out;
    out.failure_ = std::move(failure);
    return out;
  }
  /// Failed, and trying again would not help: waits for a change of the object.
  static Outcome stop(Failure failure) {
    Outcome out = retry(std::move(failure));
    out.terminal_ = true;
    return out;
  }

  const std::optional<Failure>& failure() const { return failure_; }
  const std::optional<Duration>& delay() const { return delay_; }
  bool is_terminal() const { return terminal_; }

 private:
  Outcome() = default;

  std::optional<Failure> failure_;
  std::optional<Duration> delay_;
  bool terminal_ = false;
};

/// What a Controller is made with.
struct ControllerSettings {
  std::string name;  ///< as in logs and metrics, e.g. "pod"
  Schedule::Limits limits;
  /// No key is worked on before this returns true and the caches that are watched or read have synced (see
  /// Controller::watch()). Not set: only the caches are waited for. What it throws ends run().
  std::function<bool()> also_ready;
  /// Enqueues all there is; called when the controller begins to run. What it throws ends run(). If it is set, keys
  /// that are enqueued while the controller does not run, as on a replica that does not lead, are dropped. Not set:
  /// they are kept until it runs.
  std::function<void()> fill;
  Duration guard = std::chrono::minutes(2);  ///< a reconcile that takes longer is cancelled and retried
  /// For running reconciles when the controller stops; none if it stops because leadership was lost.
  Duration grace = std::chrono::seconds(10);
};

/// Level-triggered: a reconcile gets the key, never what happened. One reconcile per key at a time; failures are
/// retried with backoff; an exception counts as a panic and is retried; everything is counted under the names of
/// controller-runtime. `run()` ends when cancelled, after the running reconciles had their grace. If run() has begun
/// while the leader of its Environment led, the grace is over as soon as that leads no longer. One thread.
class Controller {
 public:
  using Reconcile = std::function<asio::awaitable<Outcome>(WorkKey)>;

  Controller(const Environment& environment, ControllerSettings settings, Reconcile reconcile);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Makes each object of this cache due when it changes, as {its namespace, its key}. The first cache that is watched
  /// in this way holds the objects that are reconciled: all of them are due once the first list of any watched cache is
  /// complete. No key is worked on before every watched cache has synced. Release the handle only after run() has
  /// ended, that of the reconciled objects last or in the same turn, and do not call has_synced() after that.
  void watch(InformerHandle& objects);
  /// Makes due what `reaction` returns for a Change or its key: an ObjectKey, an optional one, or a vector of them;
  /// kube/runtime/to_keys.hpp has the usual functions. A reaction that returns void enqueues by itself. `synced` is
  /// called once the first list of this cache is complete, in place of what watch() does then.
  template <typename Reaction>
  void watch(InformerHandle& objects, Reaction reaction, std::function<void()> synced = {}) {
    if constexpr (std::is_void_v<std::invoke_result_t<Reaction&, const Change&>>) {
      subscribe(objects, std::move(reaction), std::move(synced));
    } else {
      auto changed = [this, to_keys = std::move(reaction)](const Change& change) mutable { make_due(to_keys(change)); };
      subscribe(objects, std::move(changed), std::move(synced));
    }
  }
  /// Watches a cache as InformerHandle::follow() does: first calls `changed` for each object that is there. The
  /// end of its first list makes nothing due.
  void follow(InformerHandle& objects, const std::function<void(const Change&)>& changed);
  /// Works on no key before these have synced, too: caches whose changes make no key due, or anything else that has a
  /// has_synced() and outlives the controller.
  template <typename... Sources>
  void reads(const Sources&... sources) {
    (add_source(sources), ...);
  }
  /// Whether nothing keeps the controller from its keys: all that is watched or read has synced, and
  /// ControllerSettings::also_ready says so.
  bool has_synced() const;

  /// Makes the key due at once.
  void enqueue(WorkKey key);
  /// Makes every object of a namespace due, of all namespaces if `ns` is "". Those of one namespace are a group.
  void enqueue_all(const Store& store, std::string_view ns = "");
  /// Makes the key due after a time, unless it is due earlier.
  void enqueue_after(WorkKey key, Duration delay);
  /// From now on works on `workers` keys at a time, and on `workers_per_group` of one group.
  void set_workers(int workers, int workers_per_group);
  /// Reconciles what is asked for. Ends by cancellation, once the reconciles under way have ended or their grace is
  /// over, or by an exception of ControllerSettings::fill or ControllerSettings::also_ready.
  asio::awaitable<void> run();
  /// True while a key is due or being worked on. A key that waits for its time, also after a failure,
  /// does not count.
  bool is_busy() const { return schedule_.depth() + schedule_.running() > 0; }

 private:
  void subscribe(InformerHandle& objects, std::function<void(const Change&)> changed, std::function<void()> synced);
  void make_due(std::optional<ObjectKey> key);
  void make_due(std::vector<ObjectKey> keys);
  void add_source(const InformerHandle& objects);
  template <typename Source>
  void add_source(const Source& source) {
    sources_.emplace_back([&source] { return source.has_synced(); });
  }
  /// Begins a reconcile for each key that is due, until it is cancelled.
  asio::awaitable<void> work(async::TaskGroup& workers);
  /// Gives the reconciles under way their grace, at most for as long as `reign` leads; null = whether it leads or not.
  asio::awaitable<void> wind_down(async::TaskGroup& workers, Leadership* reign);
  asio::awaitable<void> process(WorkKey key);
  void conclude(const WorkKey& key, Outcome outcome);
  /// Updates the metrics, which are those of all controllers of this name together.
  void show(std::size_t depth, std::size_t running);

  asio::any_io_executor executor_;
  Leadership* leader_;
  async::Clock& clock_;
  Random& random_;
  ControllerSettings settings_;
  Reconcile reconcile_;
  std::vector<std::function<bool()>> sources_;  ///< whether each of what is watched or read has synced
  const Store* reconciled_ = nullptr;           ///< the objects that are reconciled; null if no cache holds them
  Schedule schedule_;
  bool running_ = false;
  async::Event wake_;
  Log log_;
  Repeats logged_;
  std::multiset<TimePoint> begun_;  ///< the reconciles under way
  std::size_t shown_depth_ = 0, shown_running_ = 0;
  Counter adds_, retries_, successes_, requeues_, errors_, failures_, terminal_, timeouts_, panics_;
  Gauge depth_, active_, max_workers_;
  Histogram queue_time_, work_time_, reconcile_time_;
  Metrics::Reading longest_;
};

}  // namespace kube
