// Whether an API server still has the history that its watches have shown.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"

namespace kube {

/// The newest object that one watch has shown since its list. If the server still shows it at that very version, the
/// server's history is the one that the watch has shown, at least up to there. A restored database ends before that
/// version and shows an older one, or contains that version.
struct HistoryWitness {
  const Resource* resource = nullptr;
  ObjectKey key;
  std::string uid;
  std::uint64_t version = 0;  ///< 0 = there is none
  /// Since when this watch has shown one history, without a gap. A watch never moves between two histories, so an
  /// informer that heard of the same database after this time, over any watch, knows the same history.
  TimePoint since{};
};

/// Asks one server for witnesses, on behalf of all its informers: once for those that ask at about the same time. A
/// witness vouches only for the database in which it is stored. Other databases of the same server (that of the Events,
/// those of aggregated API servers) have histories of their own, whose versions cannot be compared with its version.
/// Kinds of the built-in groups share one, Events excepted; any other kind has one for itself, unless share() says
/// more. One thread.
class ServerHistory {
 public:
  enum class Verdict {
    same,       ///< everything up to the witness's version is as it was shown
    gone_back,  ///< it shows the witness older than it was
    unknown,    ///< the witness has changed or gone since, or there is none
  };
  struct Finding {
    Verdict verdict = Verdict::unknown;
    std::uint64_t version = 0;  ///< the witness's
    TimePoint at{};             ///< when the server was asked
    bool is_own = false;        ///< the witness is of the resource that was asked about
  };

  ServerHistory(const asio::any_io_executor& executor, Api& api, Metrics& metrics);

  /// Adds the witness of one watch; remove() it before it is destroyed.
  void add(const HistoryWitness& witness) { witnesses_.insert(&witness); }
  void remove(const HistoryWitness& witness) { witnesses_.erase(&witness); }

  /// From now on the kinds of this group count as stored where those of the built-in groups are.
  void share(std::string_view group) { shared_.emplace(group); }

  /// Asks whether the history is still there from which an informer of this resource had its last sign of life at
  /// `alive` and knows changes up to `version`. Errors: those of a request; the server may be away.
  asio::awaitable<Result<Finding>> ask(const Resource& of, TimePoint alive, std::uint64_t version);

 private:
  /// Whether objects of this kind lie in the database of the built-in groups.
  bool is_shared(const Resource& resource) const;
  std::optional<HistoryWitness> choose(const Resource& of, TimePoint alive, std::uint64_t version) const;
  asio::awaitable<Result<Finding>> look(HistoryWitness witness);

  Api& api_;
  std::set<const HistoryWitness*> witnesses_;
  async::Event free_;  ///< nobody is asking
  std::set<std::string, std::less<>> shared_;
  std::string asked_;  ///< the last witness: its resource and version
  std::optional<Result<Finding>> answer_;
  TimePoint answered_{};
  Counter same_, gone_back_, unknown_;
};

}  // namespace kube
