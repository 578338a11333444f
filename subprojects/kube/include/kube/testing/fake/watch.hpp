// One open watch on a fake API server: a cursor over the log of its kind.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/testing/fake/selectors.hpp"
#include "kube/testing/fake/store.hpp"

namespace kube::testing {

/// What a watch was opened with.
struct FakeWatchOptions {
  std::string ns;  ///< "" = all namespaces
  Selector selector;
  bool bookmarks = false;
  bool initial_events = false;        ///< the state first, as ADDED events
  bool initial_bookmark = false;      ///< and after it the bookmark that says so (KEP-3157)
  std::uint64_t after = 0;            ///< where to start if initial_events is not set
  bool metadata_only = false;         ///< events carry PartialObjectMetadata
  std::optional<std::size_t> cut_at;  ///< the stream ends well after so many initial events, before their bookmark
  Duration timeout = std::chrono::minutes(30);
};

/// Lines of a watch stream, taken by what carries them to the client. The table must outlive it. One thread.
class FakeWatch {
 public:
  FakeWatch(FakeStore& store, FakeTable& table, FakeWatchOptions options);
  /// A stream of one ERROR event, as the real server answers to a version that is too old.
  FakeWatch(FakeStore& store, FakeTable& table, const Refusal& refusal);
  ~FakeWatch();
  FakeWatch(const FakeWatch&) = delete;
  FakeWatch& operator=(const FakeWatch&) = delete;

  /// The next event with its line feed; nothing if none has happened yet, or the stream has ended.
  std::optional<std::string> next();
  /// True when no line will come any more. A rewind of the store ends every watch.
  bool ended() const;
  /// When `next` may have something without a change in the store: a bookmark, or the end.
  TimePoint due() const;
  /// Called after each change of the kind, and by close().
  void on_wake(std::function<void()> wake) { wake_ = std::move(wake); }
  /// The server ends the stream.
  void close();

 private:
  std::string bookmark(std::uint64_t version, bool initial) const;
  bool selects(const json::object& object) const;
  std::optional<std::string> translate(const FakeChange& change) const;
  /// An object in the form that was asked for.
  std::string text_of(const json::object& object) const;

  FakeStore& store_;
  FakeTable& table_;
  FakeWatchOptions options_;
  std::list<std::function<void()>>::iterator registration_;
  std::function<void()> wake_;
  std::vector<Tree> initial_;  ///< in reverse order
  std::uint64_t opened_at_;    ///< version of the state that is sent first: later changes come as events
  std::optional<std::string> last_words_;
  std::size_t cursor_ = 0;
  TimePoint ends_at_;
  TimePoint bookmark_at_;
  int rewinds_;  ///< of the store, when the watch was opened
  bool announce_initial_ = false;
  bool closed_ = false;
};

}  // namespace kube::testing
