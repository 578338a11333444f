// From which Quota a batch of admissions is decided, and what has to be read or written before anybody is told.
#pragma once

#include <optional>

#include "core/quota/ledger.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// The state of one decision. The Quota that the cache has decides, and is read live beside the write, so that one that
/// was lowered or cordoned a moment ago binds already. What is said without a write needs a live one before. Pure.
class DeskLook {
 public:
  /// `cached`: the Quota as the cache has it, if it does.
  explicit DeskLook(std::optional<kube::Object> cached) : quota_(std::move(cached)), wants_live_(!quota_) {}

  /// The Quota that decides. There is one once what wants_quota() asks for has been read.
  const kube::Object& quota() const { return *quota_; }
  /// The Quota was read from the server.
  bool is_live() const { return is_live_; }

  /// The Quota has to be read from the server before the next round, and then observed.
  bool wants_quota() const { return wants_live_ && !is_live_; }
  void observe_quota(kube::Object live);
  /// The record has to be read before the next round; then say so.
  bool wants_record(const KnownRecord& known) const { return known.needs_read(); }
  void note_record_read() { has_read_ = true; }
  /// If there is no record, what is stored has to be listed before the next round.
  bool wants_floor() const { return wants_floor_; }
  /// Whether the record names a Quota that this one may be older than. Then it has to be read from the server, once for
  /// each Quota that is named.
  bool is_outdated_by(const core::LedgerRecord& record);

  /// What a round needs before those who asked are told what it has said.
  struct Needs {
    bool look = false;   ///< somebody's answer holds if Quota and record are the newest
    bool write = false;  ///< somebody's holds once the record is written
  };
  enum class Step {
    read,   ///< decide again by a live Quota, and by a record that is read again
    look,   ///< decide again, after what wants_quota(), wants_record() and wants_floor() ask for
    write,  ///< write the record, and ask after_write()
    tell,
  };
  Step after_round(Needs needs, bool is_floor_old);

  /// Whether the Quota is read at the same time as the record is written. A record that is not there cannot name a
  /// Quota: whoever makes one reads the Quota after it.
  bool reads_beside_write(const KnownRecord& known) const { return !is_live_ && known.is_stored(); }
  /// The answer to a write of the record.
  struct Written {
    bool was_first = false;            ///< there was no record before
    bool is_stored = false;            ///< else another replica was faster
    std::optional<kube::Object> live;  ///< the Quota, if it was read beside or after the write
  };
  /// How what the round has said stands after that.
  struct Standing {
    bool by_quota = false;  ///< the Quota is still the one by which it was decided
    bool is_final = false;  ///< and the record is written: it may be told; else it is to be decided again
  };
  Standing after_write(Written written);

 private:
  std::optional<kube::Object> quota_;
  bool is_live_ = false;
  bool has_read_ = false;  ///< the record was read, or was just written
  bool wants_live_;
  bool wants_floor_ = false;
  /// The Quota that the record named when the Quota was read live last: it is no older than that.
  std::optional<core::QuotaVersion> named_;
};

}  // namespace liqo::quota
