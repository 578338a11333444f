// What decisions read from the server, in so little memory that any number of them may ask.
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

/// Counts memory that a review takes against what the server may hold; false: there is no room for it now.
using Hold = std::function<bool(std::size_t bytes)>;

/// Reads for reviews, each of which pays for what it causes.
///
/// Guarantees: of the objects of a kind in a namespace one list is under way at a time, and only one object of it is in
/// memory. Reviews that come meanwhile share the next list: what they see is not older than they are.
///
/// Failures: those of the Api; Errc::too_large where a review may hold no more, or where there are more objects than
/// can be looked at.
///
/// Lifetime: outlives the reads. One thread.
class LiveReads {
 public:
  /// Memory that is counted for a list: of it one object at a time is held. What a large one takes is bounded for all
  /// answers together (kube::MemoryAccount).
  static constexpr std::size_t one_list = std::size_t{1} << 20;
  /// Memory that is counted for an object that is read by its name: people and this program write these.
  static constexpr std::size_t one_object = std::size_t{16} << 10;

  LiveReads(kube::Api& api, std::size_t max_listed);

  /// Which objects, and how much of them.
  struct Selection {
    kube::Collection collection;
    std::string label_selector;
    bool metadata_only = false;
  };
  /// Looks at an object and keeps what it needs. Must not suspend.
  using Visit = std::function<void(const kube::Object&)>;
  /// Shows every object to `visit`, which is to be ignored where this fails. Reviews that ask for a collection ask for
  /// the same of it. Cancellable: another review then reads for those who wait.
  asio::awaitable<kube::Result<void>> each(Selection selection, Visit visit, const Hold& hold);

  /// The object, nothing where there is none.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> find(kube::Resource resource, kube::ObjectKey key,
                                                                  const Hold& hold);

 private:
  struct Look;
  class Place;
  class Reader;
  /// The look that is under way, and the one that begins when it has ended.
  struct Line {
    std::shared_ptr<Look> now, next;
  };
  using Name = std::pair<std::string, std::string>;  ///< plural and namespace

  asio::awaitable<kube::Result<void>> read(const Selection& selection, Look& look, const Hold& hold);

  kube::Api& api_;
  std::size_t max_listed_;
  std::map<Name, Line> lines_;  ///< without those on which nobody waits
};

}  // namespace liqo::webhook
