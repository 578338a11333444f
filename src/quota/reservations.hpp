// Finds which reservations of a record are stored by now, how much the others hold, and which of them are due to
// expire. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/account.hpp"
#include "core/quota/ledger.hpp"
#include "kube/base/time.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// The version at which the ShadowPod of a reservation was seen stored; 0 = not yet.
std::uint64_t stored_version(const core::QuotaAccount& account, const std::string& key,
                             const core::Reservation& reservation);

/// The sum of the reservations that are not stored yet.
core::Resources reserved(const core::QuotaAccount& account, const core::LedgerRecord& record);

/// Drops reservations that were seen stored from a record, and raises the floor accordingly. Returns how many there
/// were.
std::size_t drop_stored(const core::QuotaAccount& account, core::LedgerRecord& record);

/// Reservations that were not seen stored in time.
struct DueReservations {
  /// Those whose ShadowPods could not be read last time come last, so that they do not delay the others.
  std::vector<std::pair<std::string, core::Reservation>> readable;
  std::set<std::string> unreadable;  ///< UIDs of entries that do not name their pod
};
DueReservations find_due(const core::QuotaAccount& account, const KnownRecord& known, kube::TimePoint now,
                         kube::Duration life);

}  // namespace liqo::quota
