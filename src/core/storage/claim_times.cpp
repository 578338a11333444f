#include "core/storage/claim_times.hpp"

#include <algorithm>

#include "core/common/late_requests.hpp"

namespace liqo::core::storage {

kube::Duration ClaimTimes::waited(std::string_view uid, kube::TimePoint now) {
  return now - waiting_since_.try_emplace(std::string(uid), now).first->second;
}

void ClaimTimes::end_wait(std::string_view uid) { waiting_since_.erase(std::string(uid)); }

void ClaimTimes::doubt(std::string_view uid, kube::TimePoint sent_at) {
  in_doubt_until_[std::string(uid)] = sent_at + late_after;
}

kube::Duration ClaimTimes::left_of_doubt(std::string_view uid, kube::TimePoint now) const {
  const auto found = in_doubt_until_.find(uid);
  if (found == in_doubt_until_.end()) return {};
  return std::max(found->second - now, kube::Duration::zero());
}

void ClaimTimes::drop_past_doubts(kube::TimePoint now) {
  std::erase_if(in_doubt_until_, [now](const auto& entry) { return entry.second <= now; });
}

}  // namespace liqo::core::storage
