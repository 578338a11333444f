// How new the cache of ShadowPods has to be for users who have no record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqo::quota {

/// Follows which records go. The versions of their users' ShadowPods were in them, so that a leader who has removed
/// those itself need not list ShadowPods. Pure. One thread.
class UnrecordedVersions {
 public:
  /// Whether floor() is known. `lists`: of the cache of records now.
  bool is_known(std::uint64_t lists) const;
  /// The version that the cache has to have reached. Only while it is known.
  std::uint64_t floor() const;
  /// Something was found out that makes worthless what was listed.
  void doubt();

  /// All ShadowPods are being listed.
  struct Listing {
    std::uint64_t doubts = 0, lists = 0;
  };
  /// Before it begins. `lists`: of the cache of records now.
  Listing begin_list(std::uint64_t lists);
  /// Takes the newest version that was listed. False: there was a doubt meanwhile, so that it has to be listed again.
  bool end_list(const Listing& listing, std::uint64_t newest);

  /// Whoever begins to lead: what other leaders have removed was not followed here.
  void begin_to_remove();
  /// The record of that UID, with this floor, is being removed here.
  void begin_removal(const std::string& uid, std::uint64_t floor);
  /// The record of that UID is gone from the cache.
  void see_removed(std::string_view uid);
  /// Removing the record of that UID here has ended.
  void see_removal_end(const std::string& uid, const kube::Result<void>& removed);

 private:
  /// A record that is being removed here. Another replica may have been faster, and have removed a newer one.
  struct Removal {
    bool is_done = false;  ///< it was this one that was removed
    bool is_gone = false;  ///< from the cache
  };
  std::optional<std::uint64_t> listed_;      ///< the newest of all ShadowPods, at a time since which `removed_` is kept
  std::uint64_t removed_ = 0;                ///< the newest floor of the records that were removed here
  std::uint64_t lists_ = 0;                  ///< of the cache of records at that time
  std::uint64_t doubts_ = 0;                 ///< how often doubt() was called
  std::map<std::string, Removal> removing_;  ///< by the UID of the record, until it is both done and gone
};

}  // namespace liqo::quota
