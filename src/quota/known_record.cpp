#include "quota/known_record.hpp"

#include <algorithm>
#include <utility>

namespace liqo::quota {

void KnownRecord::adopt(core::LedgerRecord record, std::string version, std::size_t bytes, kube::TimePoint now) {
  const auto is_gone = [&record](const auto& entry) {
    return !record.reservations.contains(entry.first) && !record.unreadable.contains(entry.first);
  };
  std::erase_if(since_, is_gone);
  std::erase_if(unclear_, is_gone);
  std::erase_if(doubtful_, [&](const std::string& uid) { return !record.reservations.contains(uid); });
  unproven_ = 0;
  for (const auto& [uid, reservation] : record.reservations) {
    since_.emplace(uid, now);
    if (reservation.unproven) ++unproven_;
  }
  for (const auto& [uid, entry] : record.unreadable) since_.emplace(uid, now);
  record_ = std::move(record);
  if (!version.empty()) listed_floor_.reset();
  is_floor_old_ = false;
  version_ = std::move(version);
  bytes_ = bytes;
  is_known_ = true;
}

void KnownRecord::adopt_none(std::optional<std::uint64_t> listed, kube::TimePoint now) {
  if (listed) listed_floor_ = listed;
  adopt({.floor = listed_floor_.value_or(0), .reservations = {}, .unreadable = {}}, "", 0, now);
  is_floor_old_ = !listed;
}

bool KnownRecord::is_older_than(std::uint64_t version) const {
  return is_known_ && version > kube::version_number(version_);
}

bool KnownRecord::is_due(const std::string& key, kube::TimePoint now, kube::Duration life) const {
  const auto since = since_.find(key);
  return since != since_.end() && now - since->second >= life;
}

std::uint64_t KnownRecord::note_unclear(const std::string& key, std::uint64_t version) {
  std::uint64_t& enough = unclear_.try_emplace(key, version).first->second;
  enough = std::min(enough, version);
  return enough;
}

}  // namespace liqo::quota
