#include "quota/caller_proofs.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// The most admissions that are remembered until they are stored.
constexpr std::size_t max_unconfirmed = 10'000;
/// The time after which a proven address is watched again, and the number of addresses whose time is remembered.
constexpr kube::Duration proven_again = 1min;
constexpr std::size_t max_watched_for = 1'000;

}  // namespace

void CallerProofs::watch_for(const kube::ObjectKey& quota, const DeskQuestion& asked, bool large, kube::TimePoint now) {
  // Any user may know the UID of a stored ShadowPod, so asking about one proves nothing.
  if (asked.claimant.address.empty() || asked.reservation.grows()) return;
  while (!unconfirmed_since_.empty() && now - unconfirmed_since_.front().first > life_) {
    unconfirmed_.erase(unconfirmed_since_.front().second);
    unconfirmed_since_.pop_front();
  }
  // A proven address stays proven by a new pod from time to time.
  if (asked.claimant.proven) {
    const auto [last, is_new] = watched_for_.try_emplace(asked.claimant.address, now);
    if (!is_new && now - last->second < proven_again) return;
    last->second = now;
    if (watched_for_.size() > max_watched_for) watched_for_.clear();
  }
  if (unconfirmed_since_.size() >= max_unconfirmed) return;
  unconfirmed_since_.emplace_back(now, asked.key);
  unconfirmed_.insert_or_assign(asked.key, UnconfirmedReservation{.quota = quota,
                                                                  .pod = asked.reservation.pod,
                                                                  .user = asked.user,
                                                                  .address = asked.claimant.address,
                                                                  .large = large});
}

std::optional<UnconfirmedReservation> CallerProofs::confirm(const kube::ObjectKey& pod,
                                                            const core::HeldShadow& shadow) {
  if (unconfirmed_.empty()) return std::nullopt;
  auto found = unconfirmed_.extract(shadow.uid);
  // A reader of the stored ShadowPod knows its UID, and may have used it to ask about another pod or for another user.
  if (!found || found.mapped().pod != pod || found.mapped().user != shadow.user) return std::nullopt;
  return std::move(found.mapped());
}

}  // namespace liqo::quota
