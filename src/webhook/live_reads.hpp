// Reads objects from the server for decisions, in so little memory that any number of decisions may read.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/client/list_all.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Counts memory that a review takes against the server's limit; false: there is no room for it now.
using Hold = std::function<bool(std::size_t bytes)>;

/// Reads for reviews; each review accounts for the memory that it causes.
///
/// Guarantees: for each kind and namespace one list is under way at a time, and only one object of it is in memory.
/// Reviews that come meanwhile share the next list, so they see no state that is older than themselves.
///
/// Failures: those of the Api; Errc::too_large if a review may hold no more memory, or if there are too many objects.
///
/// Lifetime: outlives the reads. One thread.
class LiveReads {
 public:
  /// Memory that is counted for a list, of which one object at a time is in memory. Large objects are bounded for all
  /// answers together (kube::MemoryAccount).
  static constexpr std::size_t one_list = std::size_t{1} << 20;
  /// Memory that is counted for an object that is read by its name. Such objects are written by people and by liqod.
  static constexpr std::size_t one_object = std::size_t{16} << 10;

  LiveReads(kube::Api& api, std::size_t max_listed);

  /// The objects to read, and which parts of them.
  struct Selection {
    kube::Collection collection;
    std::string label_selector;
    bool metadata_only = false;
  };
  /// Looks at an object, and keeps what it needs. Must not suspend.
  using Visit = std::function<void(const kube::Object&)>;
  /// Calls `visit` with every object; ignore its results if this fails. All reviews that read a collection must select
  /// the same parts of it. Cancellable: another review then reads for those that wait.
  asio::awaitable<kube::Result<void>> each(Selection selection, Visit visit, const Hold& hold);

  /// Reads one object; nothing if there is none.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> find(kube::Resource resource, kube::ObjectKey key,
                                                                  const Hold& hold);

 private:
  struct Listing;
  class Place;
  class Reader;
  /// The list that is under way, and the one that begins after it.
  struct Line {
    std::shared_ptr<Listing> now, next;
  };
  using Name = std::pair<std::string, std::string>;  ///< plural and namespace

  asio::awaitable<kube::Result<void>> read(const Selection& selection, Listing& listing, const Hold& hold);

  kube::Api& api_;
  std::size_t max_listed_;
  std::map<Name, Line> lines_;  ///< without those for which no review waits
};

}  // namespace liqo::webhook
