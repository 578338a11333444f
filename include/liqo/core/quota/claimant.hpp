// What callers may reserve of a Quota that have not shown yet that they are API servers.
#pragma once

#include <cstdint>
#include <string>

#include "kube/base/time.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core {

/// Who asks for a reservation.
struct Claimant {
  std::string address;  ///< from where; "" = nothing is to be learnt of what becomes of the reservation
  bool proven = true;   ///< an API server asks from there
  /// One that is not proven may hold more than the share, where LargeClaims says so.
  bool may_be_large = false;
};

/// Callers that are not proven may together hold one part in so many of each resource ...
inline constexpr std::int64_t parts_for_unproven = 10;
/// ... by so many reservations.
inline constexpr std::size_t most_unproven = 64;
/// One of these takes at most so many bytes of the record.
inline constexpr std::size_t most_unproven_bytes = 1024;

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

/// Reservations beyond the share, of one Quota: without them an API server that nothing has proven yet would never get
/// a large pod in, which would prove it. One at a time, and after each that was never stored with a longer pause: a
/// minute from the second on, doubled up to an hour. Each replica counts its own, from its start on.
class LargeClaims {
 public:
  bool may(kube::TimePoint now) const { return now >= next_; }
  /// One is held, until `expiry` at the latest.
  void grant(kube::TimePoint expiry);
  /// One was stored.
  void confirm() { *this = {}; }

 private:
  kube::TimePoint next_ = kube::TimePoint::min();
  int in_vain_ = 0;
};

}  // namespace liqo::core
