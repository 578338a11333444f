// Who asked first for a ShadowPod that is stored: an API server.
#include "quota/quota_ledger_parts.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// More than this on their way into storage prove nothing about who asked.
constexpr std::size_t most_unconfirmed = 10'000;
/// How often who is proven is looked at again, and of how many it is remembered when that was.
constexpr kube::Duration proven_again = 1min;
constexpr std::size_t most_watched_for = 1'000;

}  // namespace

void QuotaLedger::watch_for(const Desk& desk, const Asked& asked, bool large) {
  // Of what is stored already everybody may know the UID.
  if (asked.claimant.address.empty() || asked.reservation.grows()) return;
  const kube::TimePoint now = context_.clock.now();
  while (!unconfirmed_since_.empty() &&
         now - unconfirmed_since_.front().first > settings_.request_timeout + expiry_slack) {
    unconfirmed_.erase(unconfirmed_since_.front().second);
    unconfirmed_since_.pop_front();
  }
  // Who is proven is so again by one of its pods now and then.
  if (asked.claimant.proven) {
    const auto [last, is_new] = watched_for_.try_emplace(asked.claimant.address, now);
    if (!is_new && now - last->second < proven_again) return;
    last->second = now;
    if (watched_for_.size() > most_watched_for) watched_for_.clear();
  }
  if (unconfirmed_since_.size() >= most_unconfirmed) return;
  unconfirmed_since_.emplace_back(now, asked.key);
  unconfirmed_.insert_or_assign(asked.key, Unconfirmed{.quota = desk.quota,
                                                       .pod = asked.reservation.pod,
                                                       .user = asked.user,
                                                       .address = asked.claimant.address,
                                                       .large = large});
}

void QuotaLedger::confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow) {
  if (unconfirmed_.empty()) return;
  const auto found = unconfirmed_.extract(shadow.uid);
  // The UID of what is stored may be known to who has read it, and by another user's record nobody had asked for it.
  if (!found || found.mapped().pod != pod || found.mapped().user != shadow.user) return;
  const Unconfirmed& asked = found.mapped();
  if (const auto desk = desks_.find(asked.quota); asked.large && desk != desks_.end()) desk->second->large.confirm();
  if (confirmed_) confirmed_(asked.address);
}

}  // namespace liqo::quota
