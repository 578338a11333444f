#include "quota/reservations.hpp"

#include <algorithm>

namespace liqo::quota {

std::uint64_t stored_version(const core::QuotaAccount& account, const std::string& key,
                             const core::Reservation& reservation) {
  const std::uint64_t seen = account.seen_version(std::string(core::uid_of(key)));
  return seen > reservation.from ? seen : 0;
}

core::Resources reserved(const core::QuotaAccount& account, const core::LedgerRecord& record) {
  core::Resources total;
  for (const auto& [key, reservation] : record.reservations)
    if (stored_version(account, key, reservation) == 0) core::add(total, reservation.demand);
  return total;
}

std::size_t drop_stored(const core::QuotaAccount& account, core::LedgerRecord& record) {
  const auto note = [&record](std::uint64_t seen) {
    if (seen != 0) record.floor = std::max(record.floor, seen);
    return seen != 0;
  };
  const auto is_stored = [&](const auto& entry) { return note(stored_version(account, entry.first, entry.second)); };
  const auto is_seen = [&](const auto& entry) { return note(account.seen_version(entry.first)); };
  return std::erase_if(record.reservations, is_stored) + std::erase_if(record.unreadable, is_seen);
}

DueReservations find_due(const core::QuotaAccount& account, const KnownRecord& known, kube::TimePoint now,
                         kube::Duration life) {
  DueReservations due;
  for (const auto& [key, reservation] : known.record().reservations)
    if (known.is_due(key, now, life) && stored_version(account, key, reservation) == 0)
      due.readable.emplace_back(key, reservation);
  std::ranges::partition(due.readable, [&](const auto& entry) { return !known.is_unclear(entry.first); });
  for (const auto& [uid, entry] : known.record().unreadable)
    if (known.is_due(uid, now, life) && account.seen_version(uid) == 0) due.unreadable.insert(uid);
  return due;
}

}  // namespace liqo::quota
