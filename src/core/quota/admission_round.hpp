// For which of the ShadowPods that ask at the same time a Quota has room, and the verdicts for the others. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/quota/claimant.hpp"
#include "core/quota/demand.hpp"
#include "core/quota/ledger.hpp"
#include "core/quota/quota_state.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::core {

/// Why a Quota refuses a ShadowPod, for metrics.
enum class QuotaRefusal { no_quota, unreadable, withdrawn, malformed, cordoned, drained, enforcement, no_room };
/// The value of the metrics' label.
std::string_view word_for(QuotaRefusal reason);

/// The verdict on a ShadowPod.
struct QuotaVerdict {
  /// `held_back`: nothing is reserved, because the caller is not proven to be an API server; a proven one might be
  /// admitted.
  enum class Ruling { admitted, refused, unavailable, held_back };
  Ruling ruling = Ruling::admitted;
  std::string text;                             ///< of a refusal, or why there is no decision yet
  QuotaRefusal reason = QuotaRefusal::no_room;  ///< of a refusal

  static QuotaVerdict refused(std::string text, QuotaRefusal reason) {
    return {.ruling = Ruling::refused, .text = std::move(text), .reason = reason};
  }
  static QuotaVerdict unavailable(std::string text) {
    return {.ruling = Ruling::unavailable, .text = std::move(text), .reason = {}};
  }
  static QuotaVerdict held_back(const kube::ObjectKey& quota);
};

/// A ShadowPod that asks for room.
struct QuotaQuestion {
  std::string key;  ///< of the reservation
  Reservation reservation;
  std::size_t bytes = 0;  ///< of the reservation, in the record
  PodNeeds needs;         ///< settled if counting is exact
  Claimant claimant;
  bool dry_run = false;
};

/// What a Quota grants and what of it is taken, at one moment.
struct QuotaStanding {
  QuotaState state;
  std::optional<QuotaVerdict> closed;  ///< why nothing is admitted, whatever is asked
  Enforcement enforcement = Enforcement::soft;
  Counting counting = Counting::exact;
  bool may_be_large = true;  ///< a reservation beyond the share of unproven callers may be made now (LargeClaims)
};

/// The standing of a Quota of which nothing is used yet.
QuotaStanding read_standing(const api::Quota& quota, Counting counting);

/// Decides on one question after the other: what it admits is used for those after it. A round belongs to one moment,
/// and its record has to be written before a caller learns of a reservation in it.
class AdmissionRound {
 public:
  /// `record`: the record without reservations that are stored by now and without unreadable entries. `bytes`: an upper
  /// bound of its size, from when it was last read or written.
  AdmissionRound(QuotaStanding standing, LedgerRecord record, std::size_t bytes);

  /// What a verdict relies on.
  enum class Basis {
    record,  ///< holds for the record as it is, or asks the caller to come again
    look,    ///< holds if Quota and record are the newest; another replica may have freed room
    write,   ///< holds once the record, with the reservation of this round, is written
  };
  struct Decision {
    QuotaVerdict verdict;
    Basis basis = Basis::record;
    bool is_large = false;  ///< a reservation was added beyond the share of unproven callers
  };
  /// What is known of the ShadowPod that asks.
  struct Known {
    bool is_stored = false;    ///< it was seen stored as it asks to be
    bool is_doubtful = false;  ///< its reservation was made when the Quota was another one
  };
  /// Decides on one question. What it reserves counts for the questions of the round that come after it.
  Decision decide(const QuotaQuestion& question, Known known);

  /// The record with the reservations of this round.
  const LedgerRecord& record() const& { return record_; }
  LedgerRecord record() && { return std::move(record_); }

 private:
  /// Reservations for one pod that nobody has seen stored. A caller that gets no answer asks again, under another UID,
  /// and only one of the two is stored. Until that is known both count, but the first is no reason to say that a quota
  /// is full.
  struct OnItsWay {
    Resources demand;
    int count = 0, proven = 0;
    void add(const Reservation& more);
  };

  /// The refusal of the question, if it is refused whatever is free.
  std::optional<QuotaVerdict> refuse_form(const QuotaQuestion& question, bool needs_room) const;
  bool is_beyond_unproven_share(const QuotaQuestion& question) const;
  bool may_be_large(const QuotaQuestion& question) const;
  /// The decision if there is no room: whether that is so for good.
  Decision refuse_room(const QuotaQuestion& question, const QuotaState& state, const OnItsWay& first) const;
  bool has_space(std::size_t more);
  void reserve(const QuotaQuestion& question, bool is_large);
  QuotaVerdict ask_again_for(const QuotaQuestion& question) const;

  QuotaStanding standing_;
  LedgerRecord record_;
  std::size_t bytes_;
  bool is_exact_ = false;  ///< bytes_ was counted
  bool has_large_ = false;
  std::unordered_map<kube::ObjectKey, OnItsWay> on_their_way_;
  UnprovenHold unproven_;
};

}  // namespace liqo::core
