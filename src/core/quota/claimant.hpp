// The share of a Quota that callers may reserve while they are not proven to be API servers.
#pragma once

#include <cstdint>
#include <string>

#include "core/common/resources.hpp"
#include "kube/base/time.hpp"

namespace liqo::core {

/// Who asks for a reservation.
struct Claimant {
  std::string address;  ///< of the caller; "" = the fate of the reservation proves nothing
  bool proven = true;   ///< an API server asks from there
  /// A caller that is not proven may hold more than the share, if LargeClaims allows it.
  bool may_be_large = false;
};

/// Callers that are not proven may together hold one part in so many of each resource.
inline constexpr std::int64_t parts_for_unproven = 10;
/// Callers that are not proven may together have this many reservations.
inline constexpr std::size_t max_unproven = 64;
/// The most bytes of the record that one of these reservations takes.
inline constexpr std::size_t max_unproven_bytes = 1024;

/// What unproven callers hold of a Quota.
struct UnprovenHold {
  Resources demand;
  std::size_t reservations = 0;
  void add(const Resources& more);
};

/// Whether one more reservation stays within the share of unproven callers.
bool is_within_share(const UnprovenHold& held, const Resources& demand, const Resources& hard);

/// Whether they hold more than the share already, for example by a reservation beyond it that a replica has let in.
bool is_beyond_share(const UnprovenHold& held, const Resources& hard);

/// Reservations of one Quota beyond the share. Without them an API server that is not proven yet could never prove
/// itself by a large pod. There is one at a time, and each that was never stored makes the pause longer: a minute from
/// the second on, doubled up to an hour. Each replica counts its own since its start.
class LargeClaims {
 public:
  bool may(kube::TimePoint now) const { return now >= next_; }
  /// A large reservation is held, until `expiry` at the latest.
  void grant(kube::TimePoint expiry);
  /// A large reservation was stored.
  void confirm() { *this = {}; }

 private:
  kube::TimePoint next_ = kube::TimePoint::min();
  int in_vain_ = 0;
};

}  // namespace liqo::core
