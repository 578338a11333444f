#include "quota/decision_basis.hpp"

#include <utility>

namespace liqo::quota {

void DecisionBasis::observe_quota(kube::Object live) {
  quota_ = std::move(live);
  is_live_ = true;
}

bool DecisionBasis::is_outdated_by(const core::LedgerRecord& record) {
  if (!record.may_be_newer_than(core::version_of_quota(*quota_)) || named_ == record.quota) return false;
  named_ = record.quota;
  is_live_ = false;
  wants_live_ = true;
  return true;
}

DecisionBasis::Step DecisionBasis::after_round(Needs needs, bool is_floor_old) {
  // A write that succeeds proves that the record was the newest. A decision without a write needs a read: another
  // replica may have admitted this very pod, or freed what is missing.
  if (!needs.write && needs.newest && !(has_read_ && is_live_)) {
    wants_live_ = true;
    return has_read_ ? Step::read_again : Step::read;
  }
  if (!needs.write) return Step::answer;
  if (is_floor_old) {
    wants_floor_ = true;
    return Step::read_again;
  }
  return Step::write;
}

DecisionBasis::Standing DecisionBasis::after_write(Written written) {
  if (written.was_first) is_live_ = false;
  const bool stands =
      is_live_ || (written.live && written.live->uid() == quota_->uid() && written.live->spec() == quota_->spec());
  if (written.live) observe_quota(std::move(*written.live));
  wants_live_ = true;  // if the read beside the write failed, the next attempt reads the Quota
  has_read_ = written.is_stored;
  return {.by_quota = stands, .is_final = stands && written.is_stored};
}

}  // namespace liqo::quota
