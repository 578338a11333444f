// Chooses the Quota by which a batch of admissions is decided, and what has to be read or written before the verdicts
// are passed on.
#pragma once

#include <optional>

#include "core/quota/ledger.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// The state of one decision. The cached Quota decides, and is read live at the same time as the record is written, so
/// that one that was lowered or cordoned a moment ago binds already. Verdicts without a write need a live Quota first.
/// Pure.
class DecisionBasis {
 public:
  /// `cached`: the Quota, if the cache has it.
  explicit DecisionBasis(std::optional<kube::Object> cached) : quota_(std::move(cached)), wants_live_(!quota_) {}

  /// The Quota that decides. There is one once wants_quota() was satisfied.
  const kube::Object& quota() const { return *quota_; }
  /// Whether the Quota was read from the server.
  bool is_live() const { return is_live_; }

  /// Whether the Quota has to be read from the server before the next round, and then passed to observe_quota().
  bool wants_quota() const { return wants_live_ && !is_live_; }
  void observe_quota(kube::Object live);
  /// Whether the record has to be read before the next round; call note_record_read() after that.
  bool wants_record(const KnownRecord& known) const { return known.needs_read(); }
  void note_record_read() { has_read_ = true; }
  /// Whether stored ShadowPods have to be listed before the next round, if there is no record.
  bool wants_floor() const { return wants_floor_; }
  /// Whether the record names a Quota that may be newer than this one. Then the Quota has to be read from the server,
  /// once for each Quota that is named.
  bool is_outdated_by(const core::LedgerRecord& record);

  /// What a round needs before its verdicts are passed on.
  struct Needs {
    bool newest = false;  ///< some verdict holds only if Quota and record are the newest
    bool write = false;   ///< some verdict holds only once the record is written
  };
  enum class Step {
    read,        ///< decide again by a live Quota and a newly read record
    read_again,  ///< decide again, after reading what wants_quota(), wants_record() and wants_floor() require
    write,       ///< write the record, and call after_write()
    answer,
  };
  Step after_round(Needs needs, bool is_floor_old);

  /// Whether the Quota is read at the same time as the record is written. A record that does not exist yet cannot name
  /// a Quota, so the Quota is read after its creation.
  bool reads_beside_write(const KnownRecord& known) const { return !is_live_ && known.is_stored(); }
  /// The answer to a write of the record.
  struct Written {
    bool was_first = false;            ///< there was no record before
    bool is_stored = false;            ///< false: another replica was faster
    std::optional<kube::Object> live;  ///< the Quota, if it was read during or after the write
  };
  /// How the verdicts of the round stand after the write.
  struct Standing {
    bool by_quota = false;  ///< the Quota is still the one by which it was decided
    bool is_final = false;  ///< and the record is written, so that they may be passed on; false: decide again
  };
  Standing after_write(Written written);

 private:
  std::optional<kube::Object> quota_;
  bool is_live_ = false;
  bool has_read_ = false;  ///< the record was read, or was just written
  bool wants_live_;
  bool wants_floor_ = false;
  /// The Quota that the record named when the Quota was last read live: the latter is no older.
  std::optional<core::QuotaVersion> named_;
};

}  // namespace liqo::quota
