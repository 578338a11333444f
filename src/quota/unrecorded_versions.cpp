#include "quota/unrecorded_versions.hpp"

#include <algorithm>

namespace liqo::quota {

bool UnrecordedVersions::is_known(std::uint64_t lists) const {
  const auto is_doubtful = [](const auto& entry) { return entry.second.is_gone && !entry.second.is_done; };
  return listed_ && lists_ == lists && std::ranges::none_of(removing_, is_doubtful);
}

std::uint64_t UnrecordedVersions::floor() const { return std::max(listed_.value_or(0), removed_); }

void UnrecordedVersions::doubt() {
  listed_.reset();
  ++doubts_;
}

UnrecordedVersions::Listing UnrecordedVersions::begin_list(std::uint64_t lists) {
  listed_.reset();
  removed_ = 0;
  // A list that begins from here on has the pods of all users whose records are gone.
  std::erase_if(removing_, [](const auto& entry) { return entry.second.is_gone; });
  return {.doubts = doubts_, .lists = lists};
}

bool UnrecordedVersions::end_list(const Listing& listing, std::uint64_t newest) {
  if (doubts_ != listing.doubts) return false;
  listed_ = newest;
  lists_ = listing.lists;
  return true;
}

void UnrecordedVersions::begin_to_remove() {
  doubt();
  removing_.clear();
}

void UnrecordedVersions::begin_removal(const std::string& uid, std::uint64_t floor) {
  removing_[uid] = {};
  removed_ = std::max(removed_, floor);
}

void UnrecordedVersions::see_removed(std::string_view uid) {
  const auto found = removing_.find(std::string(uid));
  if (found == removing_.end())
    doubt();
  else if (found->second.is_done)
    removing_.erase(found);
  else
    found->second.is_gone = true;
}

void UnrecordedVersions::see_removal_end(const std::string& uid, const kube::Result<void>& removed) {
  const auto found = removing_.find(uid);
  if (removed) {
    if (found == removing_.end()) return;
    found->second.is_done = true;
    if (found->second.is_gone) removing_.erase(found);
    return;
  }
  // The record may be gone, and may have been replaced before that.
  const bool is_gone = found == removing_.end() || found->second.is_gone;
  if (is_gone || !removed.error().is_conflict()) doubt();
  if (found != removing_.end()) removing_.erase(found);
}

}  // namespace liqo::quota
