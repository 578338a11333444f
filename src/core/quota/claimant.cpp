#include "core/quota/claimant.hpp"

#include <algorithm>

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration first_pause = 1min, max_pause = 1h;

}  // namespace

void UnprovenHold::add(const Resources& more) {
  core::add(demand, more);
  ++reservations;
}

bool is_within_share(const UnprovenHold& held, const Resources& demand, const Resources& hard) {
  if (held.reservations >= max_unproven) return false;
  return std::ranges::all_of(demand, [&](const auto& entry) {
    const auto& [name, asked] = entry;
    const auto granted = hard.find(name);
    // A resource that the Quota does not name is refused by the Quota itself (`refuse_demand`).
    return asked.is_zero() || granted == hard.end() ||
           (amount(held.demand, name) + asked) * parts_for_unproven <= granted->second;
  });
}

bool is_beyond_share(const UnprovenHold& held, const Resources& hard) {
  return held.reservations > max_unproven || std::ranges::any_of(held.demand, [&](const auto& entry) {
           const auto granted = hard.find(entry.first);
           return granted != hard.end() && entry.second * parts_for_unproven > granted->second;
         });
}

void LargeClaims::grant(kube::TimePoint expiry) {
  kube::Duration pause = 0s;
  if (in_vain_ > 0) pause = std::min(first_pause * (std::int64_t{1} << std::min(in_vain_ - 1, 6)), max_pause);
  next_ = expiry + pause;
  ++in_vain_;
}

}  // namespace liqo::core
