// Which key is reconciled next: the policy of the work queue, without clock or coroutine. Pure.
#pragma once

#include <compare>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/k8s/resource.hpp"
#include "kube/runtime/backoff.hpp"

namespace kube {

/// What a queue hands out: an object, and the group whose share of the workers it uses (e.g. a provider's cluster ID).
struct WorkKey {
  std::string group;
  ObjectKey object;
  auto operator<=>(const WorkKey&) const = default;
};

/// Guarantees: a key is in the queue at most once, and is never handed out twice at a time. A key that is added while
/// it is being worked on is handed out once more afterwards. Groups take turns, and none holds more than its share of
/// the workers, so that a noisy or dead group delays only itself.
class Schedule {
 public:
  struct Limits {
    int workers = 32;            ///< keys worked on at a time
    int workers_per_group = 16;  ///< of them from one group
    BackoffPolicy backoff{std::chrono::milliseconds(20), std::chrono::seconds(60)};
    /// The longest pause after a failure of a key that was added meanwhile.
    Duration max_news_pause = std::chrono::seconds(1);
  };
  explicit Schedule(Limits limits) : limits_(limits) {}
  /// From now on `workers` keys are worked on at a time, and `workers_per_group` of one group. What runs goes on.
  void set_workers(int workers, int workers_per_group) {
    limits_.workers = workers;
    limits_.workers_per_group = workers_per_group;
  }

  /// Makes the key due now, whatever it waited for. Its count of failures stays, and so does what add_at() asked for.
  void add(const WorkKey& key, TimePoint now);
  /// Makes the key due at `at`, whatever becomes of it before; of several such times the earliest counts.
  void add_at(const WorkKey& key, TimePoint at);
  /// The next key to work on, now marked as running; nothing when none is due or all workers are taken.
  std::optional<WorkKey> pop(TimePoint now);
  /// When pop() may return something new without a call in between; nothing if never.
  std::optional<TimePoint> next_due() const;

  /// The work on the key ended well: its failures are forgotten.
  void done(const WorkKey& key, TimePoint now);
  /// The work on the key ended well: its failures are forgotten, and it is due again at `at`.
  void done_until(const WorkKey& key, TimePoint now, TimePoint at);
  /// The work failed: the key is due again after a pause that grows, but soon if it was added meanwhile, because what
  /// made it fail may be mended. Either pause is no shorter than `asked`. Returns the pause.
  Duration failed(const WorkKey& key, TimePoint now, Random& random, Duration asked = Duration::zero());

  /// Keys that are due and not running.
  std::size_t depth() const { return depth_; }
  std::size_t running() const { return running_; }
  std::size_t waiting() const { return delayed_.size(); }
  /// When the key that pop() has just handed out became due.
  TimePoint due_since(const WorkKey& key) const;

 private:
  enum class State { idle, ready, running };
  struct Item {
    State state = State::idle;
    bool again = false;  ///< added while running
    int failures = 0;
    TimePoint since{};                    ///< when it became ready
    std::optional<TimePoint> pause_to;    ///< what its own work asked for
    std::optional<TimePoint> asked_to;    ///< what add_at() asked for
    std::optional<TimePoint> delayed_to;  ///< the earlier of both, as it stands in `delayed_`
  };
  /// A group that has keys which are due or worked on. Keys are those of `items_`.
  struct Group {
    std::list<const WorkKey*> ready;
    int running = 0;
  };
  struct Sooner {
    using Delayed = std::pair<TimePoint, const WorkKey*>;
    bool operator()(const Delayed& one, const Delayed& other) const {
      return one.first != other.first ? one.first < other.first : *one.second < *other.second;
    }
  };
  using Items = std::map<WorkKey, Item>;
  void make_ready(Items::value_type& entry, TimePoint now);
  void arrange(Items::value_type& entry);
  void pause(const WorkKey& key, TimePoint at);
  void finish(const WorkKey& key, TimePoint now, bool forget_failures);
  void drop_if_unused(const WorkKey& key);

  Limits limits_;
  Items items_;
  std::map<std::string, Group> groups_;
  std::string turn_;  ///< the group that was served last
  std::set<Sooner::Delayed, Sooner> delayed_;
  std::size_t depth_ = 0, running_ = 0;
};

}  // namespace kube
