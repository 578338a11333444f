// The memory of a fake API server: objects, one version counter, and the log of all changes that watches read.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/base/random.hpp"
#include "kube/k8s/object.hpp"
#include "kube/testing/fake/kind.hpp"
#include "kube/testing/sim/virtual_clock.hpp"

namespace kube::testing {

/// A stored object; never changed, replaced on every write.
using Tree = std::shared_ptr<const json::object>;

enum class ChangeType { added, modified, deleted };

/// One write that changed something. The history of all of them is what invariants are checked against.
struct FakeChange {
  std::uint64_t version = 0;
  ChangeType type = ChangeType::added;
  const FakeKind* kind = nullptr;
  ObjectKey key;
  Tree before;  ///< null for added
  Tree after;   ///< for deleted: the last state, with the version of the deletion
  std::string actor;
  TimePoint at;
  mutable std::string text;  ///< `after` as JSON, made at the first need
  const std::string& after_text() const;
};

/// All objects of one kind.
struct FakeTable {
  FakeKind kind;
  bool is_served = true;  ///< false: requests find no such kind; watches end when all their events are sent
  std::map<ObjectKey, Tree> objects;
  std::deque<FakeChange> log;
  std::list<std::function<void()>> watchers;  ///< woken after each change

  /// The position in the log of the first change after `version`.
  std::size_t position_after(std::uint64_t version) const;
};

/// One thread. Listeners are called in the middle of a write: they may look, and set alarms, but not write.
class FakeStore {
 public:
  explicit FakeStore(VirtualClock& clock, std::uint64_t seed) : clock_(clock), random_(seed) {}
  FakeStore(const FakeStore&) = delete;
  FakeStore& operator=(const FakeStore&) = delete;

  /// Serves a kind. One that was withdrawn still has its history.
  void serve(FakeKind kind);
  /// Deletes all objects of a kind and serves it no more, as when its definition is deleted. The history stays, and
  /// serve() serves it again.
  void withdraw(const Resource& resource, std::string_view actor);
  /// Null for a kind that is not served.
  FakeTable* find(std::string_view group, std::string_view version, std::string_view plural);
  /// The table of a kind, also of one that was withdrawn. Throws std::logic_error for one that was never served.
  FakeTable& table(const Resource& resource);
  std::map<std::string, FakeTable>& tables() { return tables_; }

  std::uint64_t version() const { return version_; }
  std::uint64_t compacted() const { return compacted_; }
  /// Makes every version before `version` too old to be read or watched from.
  void compact(std::uint64_t version) { compacted_ = std::max(compacted_, std::min(version, version_)); }
  /// Goes back to the state of an earlier version, as when the database is restored from a snapshot and the API server
  /// is restarted. Open watches end, what came later never was, and the versions after it are given once more.
  void rewind(std::uint64_t version);
  /// How often the store has been rewound.
  int rewinds() const { return rewinds_; }
  /// The objects of a kind as they were at a version that is not compacted.
  std::map<ObjectKey, Tree> snapshot(const FakeTable& table, std::uint64_t version) const;

  /// Stores a new or changed object under the next version.
  Tree put(FakeTable& table, json::object object, std::string_view actor);
  /// Removes an object, which must exist; returns its last state.
  Tree erase(FakeTable& table, const ObjectKey& key, std::string_view actor);

  /// Adds a listener, for good: it is called with each change, right after it was made.
  void on_change(std::function<void(const FakeChange&)> listener) { listeners_.push_back(std::move(listener)); }
  /// A random UID that follows from the seed, in the form of a UUID.
  std::string new_uid();
  /// Five random characters, as a server appends them to `generateName`.
  std::string new_suffix();
  VirtualClock& clock() { return clock_; }

 private:
  void commit(FakeTable& table, FakeChange change);

  VirtualClock& clock_;
  Random random_;
  std::uint64_t version_ = 1000;
  std::uint64_t compacted_ = 0;
  int rewinds_ = 0;
  std::map<std::string, FakeTable> tables_;
  std::vector<std::function<void(const FakeChange&)>> listeners_;
};

}  // namespace kube::testing
