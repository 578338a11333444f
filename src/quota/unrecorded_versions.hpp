// Knows how new the cache of ShadowPods has to be for users without a record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqo::quota {

/// Follows the removal of records. They had the versions of their users' ShadowPods, so a leader that has removed them
/// itself need not list ShadowPods. Pure. One thread.
class UnrecordedVersions {
 public:
  /// Whether floor() is known. `lists`: how often the cache of records was listed until now.
  bool is_known(std::uint64_t lists) const;
  /// The version that the cache has to reach. Call only if is_known().
  std::uint64_t floor() const;
  /// Discards the result of the last list, because something has made it worthless.
  void doubt();

  /// A list of all ShadowPods that is under way.
  struct Listing {
    std::uint64_t doubts = 0, lists = 0;
  };
  /// Call before the list begins. `lists`: how often the cache of records was listed until now.
  Listing begin_list(std::uint64_t lists);
  /// Takes the newest version in the list. False: doubt() was called meanwhile, and another list is needed.
  bool end_list(const Listing& listing, std::uint64_t newest);

  /// Call when this process begins to lead: removals by other leaders were not followed here.
  void begin_to_remove();
  /// Notes that the record of that UID, with this floor, is being removed here.
  void begin_removal(const std::string& uid, std::uint64_t floor);
  /// Notes that the record of that UID is gone from the cache.
  void see_removed(std::string_view uid);
  /// Notes that the removal of the record of that UID has ended here.
  void see_removal_end(const std::string& uid, const kube::Result<void>& removed);

 private:
  /// A record that is being removed here. Another replica may have been faster, and may have removed a newer one.
  struct Removal {
    bool is_done = false;  ///< this very record was removed
    bool is_gone = false;  ///< from the cache
  };
  std::optional<std::uint64_t> listed_;      ///< the newest of all ShadowPods, at a time since which `removed_` is kept
  std::uint64_t removed_ = 0;                ///< the newest floor of the records that were removed here
  std::uint64_t lists_ = 0;                  ///< number of lists of the cache of records at that time
  std::uint64_t doubts_ = 0;                 ///< how often doubt() was called
  std::map<std::string, Removal> removing_;  ///< by the UID of the record, until it is both done and gone
};

}  // namespace liqo::quota
