// Proves that a caller is an API server: it asked about a ShadowPod before the ShadowPod was stored.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/quota/account.hpp"
#include "kube/base/time.hpp"
#include "quota/desk_question.hpp"

namespace liqo::quota {

/// A reservation of this replica whose ShadowPod was not seen stored yet.
struct UnconfirmedReservation {
  kube::ObjectKey quota, pod;
  std::string user, address;
  bool large = false;  ///< more than the share of unproven callers
};

/// Remembers the caller of each reservation until its ShadowPod is seen stored: only an API server knows the UID of a
/// ShadowPod that is not stored yet. Bounded. Pure. One thread.
class CallerProofs {
 public:
  /// `life`: how long it may take until a reserved ShadowPod is stored.
  explicit CallerProofs(kube::Duration life) : life_(life) {}

  /// Remembers the caller of a reservation that was just written into the record of that Quota.
  void watch_for(const kube::ObjectKey& quota, const DeskQuestion& asked, bool large, kube::TimePoint now);
  /// Takes in that a ShadowPod is stored. Returns its reservation if that proves the caller.
  std::optional<UnconfirmedReservation> confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow);

 private:
  kube::Duration life_;
  std::unordered_map<std::string, UnconfirmedReservation> unconfirmed_;    ///< by UID
  std::deque<std::pair<kube::TimePoint, std::string>> unconfirmed_since_;  ///< the oldest first
  std::map<std::string, kube::TimePoint> watched_for_;                     ///< proven addresses, and when last
};

}  // namespace liqo::quota
