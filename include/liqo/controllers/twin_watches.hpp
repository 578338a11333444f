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

#include "kube/async/clock.hpp"
#include "kube/async/event.hpp"
#include "kube/runtime/informer_set.hpp"
#include "liqo/core/forge/context.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// One twin namespace, as far as pods go.
struct TwinWatch {
  std::string local, remote;
  kube::InformerHandle shadows, pods;
  /// Virtual nodes of which Secrets with tokens were found, or written; all of them, where there are very many.
  std::set<std::string, std::less<>> token_nodes;
  bool all_have_tokens = false;
  std::optional<kube::TimePoint> tokens_read_at;
  std::shared_ptr<kube::async::Event> tokens_read;  ///< set once they are, by who reads them now

  bool has_synced() const { return shadows->has_synced() && pods->has_synced(); }
  bool has_tokens_of(std::string_view node) const { return all_have_tokens || token_nodes.contains(node); }
};

/// Who is told of all twins that are watched. Handlers must not suspend.
struct TwinReader {
  std::function<void(const TwinWatch&, const kube::Change&)> shadow_changed, pod_changed;
  std::function<void(const TwinWatch&)> synced;  ///< both caches are complete
};

/// However many virtual nodes there are, a twin has one watch of ShadowPods and one of Pods, and what they tell is
/// parsed once. One thread.
class TwinWatches {
 public:
  TwinWatches(const asio::any_io_executor& executor, kube::async::Clock& clock, kube::InformerSet& caches)
      : executor_(executor), clock_(clock), caches_(caches) {}
  TwinWatches(const TwinWatches&) = delete;
  TwinWatches& operator=(const TwinWatches&) = delete;

  /// The watch of a twin, for as long as somebody holds it.
  std::shared_ptr<TwinWatch> watch(const std::string& local, const std::string& remote);

  using Membership = std::list<TwinReader>::iterator;
  Membership join(TwinReader reader) { return readers_.insert(readers_.end(), std::move(reader)); }
  void leave(Membership reader) { readers_.erase(reader); }

  /// Picks the Secrets that bring tokens, also those of other consumers.
  static std::string_view token_selector();
  /// Sees to it that the watch knows which nodes have tokens in its twin: by one list, for all who ask within some
  /// seconds of it.
  asio::awaitable<kube::Result<void>> find_tokens(std::shared_ptr<TwinWatch> watch, kube::Api& api,
                                                  core::ClusterPair clusters);

 private:
  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  kube::InformerSet& caches_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<TwinWatch>> watches_;  ///< by both names
  std::list<TwinReader> readers_;
};

}  // namespace liqo::controllers
