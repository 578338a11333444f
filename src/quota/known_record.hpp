// The record of a Quota as this replica knows it, and what it knows of each reservation beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/quota/ledger.hpp"
#include "kube/base/time.hpp"

namespace liqo::quota {

/// The record that was read or written last, and when and how its reservations came to be known here. Pure. One thread.
class KnownRecord {
 public:
  /// The record is stored as this now, with that resourceVersion and so many bytes.
  void adopt(core::LedgerRecord record, std::string version, std::size_t bytes, kube::TimePoint now);
  /// There is no record. `listed`: the newest version of the ShadowPods of its user, if it was listed for this; else
  /// the floor is what was listed before; only if has_listed_floor().
  void adopt_none(std::optional<std::uint64_t> listed, kube::TimePoint now);
  /// What is stored is not known until the next adopt(): a write is under way, or the record has to be read again.
  void distrust() { is_known_ = false; }
  /// The server has not reached the floor of the record, because its database was restored.
  void replace_floor(std::uint64_t floor) { record_.floor = floor; }

  const core::LedgerRecord& record() const { return record_; }
  /// The resourceVersion of the ConfigMap; "" = it does not exist.
  const std::string& version() const { return version_; }
  bool is_stored() const { return !version_.empty(); }
  /// Record and version are what was read or written last.
  bool is_known() const { return is_known_; }
  /// Nothing may be decided before the record is read: another replica may have made one since this one found none.
  bool needs_read() const { return !is_known_ || !is_stored(); }
  /// Whether a record of that version, which the cache brings, is newer. While the record is not known, a read or write
  /// is under way whose answer is newer than the cache.
  bool is_older_than(std::uint64_t version) const;
  std::size_t bytes() const { return bytes_; }
  bool has_listed_floor() const { return listed_floor_.has_value(); }
  /// The floor was listed when a record was looked for before: good enough to refuse by, and not to write by.
  bool is_floor_old() const { return is_floor_old_; }
  /// How many reservations callers asked for whom nothing had proven.
  std::size_t unproven() const { return unproven_; }

  /// Whether a reservation has been known here for so long.
  bool is_due(const std::string& key, kube::TimePoint now, kube::Duration life) const;
  /// A look at the pod of a reservation told nothing, when the server was at that version. Returns the version from
  /// which on a cache tells: the lowest one, because a restored database has lower versions.
  std::uint64_t note_unclear(const std::string& key, std::uint64_t version);
  bool is_unclear(const std::string& key) const { return unclear_.contains(key); }
  /// A reservation was decided by a cached Quota that another one may have replaced before the write. It is checked
  /// again whenever a caller asks about it. It stays in the record, because another replica may have been asked too; a
  /// caller who is refused leaves a reservation that expires.
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
