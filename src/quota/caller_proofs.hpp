// Proof that a caller is an API server: it asked about a ShadowPod before the ShadowPod was stored.
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

/// A reservation of this replica that nobody has seen stored yet.
struct UnconfirmedReservation {
  kube::ObjectKey quota, pod;
  std::string user, address;
  bool large = false;  ///< more than the share of unproven callers
};

/// Remembers who asked for what was reserved, until that is seen stored: only an API server knows the UID of a
/// ShadowPod that is not stored yet. Bounded. Pure. One thread.
class CallerProofs {
 public:
  /// `life`: how long a reservation may be on its way into storage.
  explicit CallerProofs(kube::Duration life) : life_(life) {}

  /// Remembers who asked for what was written down just now in the record of that Quota.
  void watch_for(const kube::ObjectKey& quota, const DeskQuestion& asked, bool large, kube::TimePoint now);
  /// Takes in that a ShadowPod is stored; what its reservation was, if that proves its caller.
  std::optional<UnconfirmedReservation> confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow);

 private:
  kube::Duration life_;
  std::unordered_map<std::string, UnconfirmedReservation> unconfirmed_;    ///< by UID
  std::deque<std::pair<kube::TimePoint, std::string>> unconfirmed_since_;  ///< the oldest first
  std::map<std::string, kube::TimePoint> watched_for_;                     ///< proven addresses, and when last
};

}  // namespace liqo::quota
