// The watches of the twin namespaces in one provider, which its virtual nodes share.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/common/forging_context.hpp"
#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// The watch of the pods of one twin namespace. It is open while something of ours may be there. Otherwise it rests and
/// holds no connection open, as most of many twins do at any time.
struct TwinWatch {
  std::string local, remote;
  kube::InformerHandle shadows, pods;  ///< null while it rests, or waits to be read
  bool is_resting = false;             ///< it was read, and nothing was there
  bool is_waiting = false;             ///< to be read
  std::optional<kube::TimePoint> unused_since;
  std::optional<kube::TimePoint> late_at;  ///< when it is read once more, for requests of an earlier process
  /// Virtual nodes of which Secrets with tokens were found, or written; all of them, if there are very many.
  std::set<std::string, std::less<>> token_nodes;
  bool all_have_tokens = false;
  std::optional<kube::TimePoint> tokens_read_at;
  std::shared_ptr<kube::async::Event> tokens_read;  ///< made by the reader, and set when it has ended

  bool has_synced() const { return shadows && shadows->has_synced() && pods->has_synced(); }
  bool has_tokens_of(std::string_view node) const { return all_have_tokens || token_nodes.contains(node); }
};

/// A subscriber to all twins that are watched. Handlers must not suspend.
struct TwinReader {
  std::function<void(const TwinWatch&, const kube::Change&)> shadow_changed, pod_changed;
  std::function<void(const TwinWatch&)> synced;     ///< both caches are complete
  std::function<bool(const TwinWatch&)> is_needed;  ///< whether it must not rest, though it holds nothing
};

/// However many virtual nodes there are, a twin has at most one watch of ShadowPods and one of Pods, and each change is
/// parsed once. Only some watches are begun at a time. One thread.
class TwinWatches {
 public:
  /// `may_begin`: whether reading twins may begin.
  TwinWatches(const asio::any_io_executor& executor, kube::async::Clock& clock, kube::InformerSet& caches,
              std::function<bool()> may_begin)
      : executor_(executor), clock_(clock), caches_(caches), may_begin_(std::move(may_begin)) {}
  TwinWatches(const TwinWatches&) = delete;
  TwinWatches& operator=(const TwinWatches&) = delete;

  /// The watch of a twin, for as long as a caller holds it. The twin will be read soon, and once more a while later.
  std::shared_ptr<TwinWatch> watch(const std::string& local, const std::string& remote);
  /// Something is to be done in the twin: if its watch rests, the twin will be read soon.
  void wake(TwinWatch& watch);
  /// As wake(), and once more a while later, because another process may have led until now.
  void wake_anew(TwinWatch& watch);
  /// Whether something of ours may be in a twin, as far as is known.
  bool is_used(const std::string& local, const std::string& remote) const;
  /// Called when a twin rests no more.
  void on_wake(std::function<void(const std::string& local)> handler) { woken_ = std::move(handler); }
  /// Puts the watches of unused twins to rest, until cancelled.
  asio::awaitable<void> run();

  using Membership = std::list<TwinReader>::iterator;
  Membership join(TwinReader reader) { return readers_.insert(readers_.end(), std::move(reader)); }
  void leave(Membership reader) { readers_.erase(reader); }

  /// Selects the Secrets that carry tokens, including those of other consumers.
  static std::string_view token_selector();
  /// Finds out which nodes have tokens in the twin, for its watch. One list serves all callers within some seconds.
  asio::awaitable<kube::Result<void>> find_tokens(std::shared_ptr<TwinWatch> watch, kube::Api& api,
                                                  core::ClusterPair clusters);

 private:
  using Watches = std::map<std::pair<std::string, std::string>, std::weak_ptr<TwinWatch>>;

  /// Begins to read waiting twins, as far as others have been read.
  void begin_waiting();
  void begin(TwinWatch& watch);
  bool is_unused(const TwinWatch& watch) const;
  void rest(TwinWatch& watch);
  void look_over();

  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  kube::InformerSet& caches_;
  std::function<bool()> may_begin_;
  Watches watches_;  ///< by both names
  bool has_begun_ = false;
  std::list<std::weak_ptr<TwinWatch>> waiting_;                              ///< to be read
  std::list<std::pair<kube::TimePoint, std::weak_ptr<TwinWatch>>> reading_;  ///< since when, the oldest first
  std::list<TwinReader> readers_;
  std::function<void(const std::string& local)> woken_;
};

}  // namespace liqo::controllers
