// The record of a Quota as this replica knows it, and further knowledge about each reservation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/quota/ledger.hpp"
#include "kube/base/time.hpp"

namespace liqo::quota {

/// The record that was read or written last, and when and how its reservations became known here. Pure. One thread.
class KnownRecord {
 public:
  /// Sets the record as it is stored now, with its resourceVersion and size.
  void adopt(core::LedgerRecord record, std::string version, std::size_t bytes, kube::TimePoint now);
  /// Notes that there is no record. `listed`: the newest version of the ShadowPods of its user, if it was just listed.
  /// Otherwise the floor is the one that was listed before, which requires has_listed_floor().
  void adopt_none(std::optional<std::uint64_t> listed, kube::TimePoint now);
  /// Notes that the stored record is unknown until the next adopt(): a write is under way, or the record has to be read
  /// again.
  void distrust() { is_known_ = false; }
  /// Replaces the floor of the record, because the server has not reached it: its database was restored.
  void replace_floor(std::uint64_t floor) { record_.floor = floor; }

  const core::LedgerRecord& record() const { return record_; }
  /// The resourceVersion of the ConfigMap; "" = it does not exist.
  const std::string& version() const { return version_; }
  bool is_stored() const { return !version_.empty(); }
  /// Whether the record and its version are those that were read or written last.
  bool is_known() const { return is_known_; }
  /// Whether the record must be read before any decision: another replica may have made one since this one found none.
  bool needs_read() const { return !is_known_ || !is_stored(); }
  /// Whether a record of that version, from the cache, is newer. False while the record is unknown: a read or write is
  /// under way, and its answer is newer than the cache.
  bool is_older_than(std::uint64_t version) const;
  std::size_t bytes() const { return bytes_; }
  bool has_listed_floor() const { return listed_floor_.has_value(); }
  /// Whether the floor was listed when a record was looked for earlier: it is good enough for refusals, but not for a
  /// write.
  bool is_floor_old() const { return is_floor_old_; }
  /// The number of reservations of unproven callers.
  std::size_t unproven() const { return unproven_; }

  /// Whether a reservation has been known here for at least `life`.
  bool is_due(const std::string& key, kube::TimePoint now, kube::Duration life) const;
  /// Notes that a read of a reservation's ShadowPod was inconclusive, when the server was at that version. Returns the
  /// version from which on a cache is conclusive: the lowest one noted, because a restored database has lower versions.
  std::uint64_t note_unclear(const std::string& key, std::uint64_t version);
  bool is_unclear(const std::string& key) const { return unclear_.contains(key); }
  /// Notes that a reservation was decided by a cached Quota that may have been replaced before the write. It is checked
  /// again whenever a caller asks about it. It stays in the record, because another replica may have been asked too; if
  /// the caller is refused, the reservation expires.
  void mark_doubtful(const std::string& key) { doubtful_.insert(key); }
  void clear_doubt(const std::string& key) { doubtful_.erase(key); }
  bool is_doubtful(const std::string& key) const { return doubtful_.contains(key); }

 private:
  core::LedgerRecord record_;
  std::string version_;
  std::size_t bytes_ = 0;
  bool is_known_ = false;
  std::optional<std::uint64_t> listed_floor_;  ///< while there was no record
  bool is_floor_old_ = false;
  std::size_t unproven_ = 0;
  std::map<std::string, kube::TimePoint> since_;  ///< when a reservation was first known here
  std::map<std::string, std::uint64_t> unclear_;
  std::set<std::string> doubtful_;
};

}  // namespace liqo::quota
