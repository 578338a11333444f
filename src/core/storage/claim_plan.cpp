#include "core/storage/claim_plan.hpp"

namespace liqo::core::storage {
namespace {

using namespace claim_action;

Step plan_without_volume(const ClaimSight& sight) {
  if (sight.claim.is_deleting()) return Abandon{};
  if (had_volume(sight.claim)) return Recover{};
  if (!is_due(sight.claim, sight.storage_class)) return Nothing{};
  if (!volume_to_take(sight.claim).empty()) return Take{};
  return Make{};
}

Step plan_with_volume(const kube::Object& claim, const kube::Object& volume) {
  if (claim.is_deleting()) return Forget{};
  if (auto place = unrecorded_place(volume, claim)) return Adopt{std::move(*place)};
  auto recorded = backing_of(volume);
  if (!recorded && is_go_volume_of(volume, claim)) return Nothing{};
  if (!recorded || !is_volume_of(volume, claim)) return Refuse{};
  return Follow{std::move(*recorded)};
}

}  // namespace

ClaimPlan plan_claim(const ClaimSight& sight) {
  if (!sight.volume) return {.release = false, .next = plan_without_volume(sight)};
  return {.release = true, .next = plan_with_volume(sight.claim, *sight.volume)};
}

}  // namespace liqo::core::storage
