#include "core/offloading/refused_pod.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/capacity.hpp"

namespace liqo::core {

void RefusedPod::refused(std::string order, kube::TimePoint now) {
  refused_at_ = now;
  order_ = std::move(order);
  ++refusals_;
}

void RefusedPod::taken() {
  refused_at_.reset();
  refusals_ = 0;
}

std::optional<RefusedPod::Pause> RefusedPod::wait(std::string_view order, bool waits, kube::TimePoint now) const {
  if (!refused_at_ || order_ != order) return std::nullopt;
  const kube::Duration waited = now - *refused_at_;
  const kube::Duration pause =
      waits ? max_wait : std::min<kube::Duration>(first_pause * (1 << std::min(refusals_ - 1, 10)), max_pause);
  if (waited >= pause) return std::nullopt;
  return Pause{.least = pause - waited, .spread = waits ? max_wait / 2 : kube::Duration::zero()};
}

RefusedPod::Room RefusedPod::see_answer(const kube::Failure* refusal, kube::TimePoint now) {
  if (refusal && !refusal->is_permanent()) return Room::unknown;
  if (!refusal || !is_for_lack_of_rights(*refusal))
    without_rights_since_.reset();
  else if (!without_rights_since_)
    without_rights_since_ = now;
  const bool lacks_rights = without_rights_since_ && now - *without_rights_since_ >= rights_patience;
  return refusal && (is_for_lack_of_room(*refusal) || lacks_rights) ? Room::lacking : Room::there;
}

const ResizeRefusal* RefusedPod::standing_resize(std::string_view amounts, kube::TimePoint now) const {
  return refused_resize_ == amounts && now < resize_again_at_ ? &resize_refusal_ : nullptr;
}

bool RefusedPod::resize_refused(std::string amounts, ResizeRefusal refusal, kube::TimePoint now) {
  resize_again_at_ = now + resize_pause;
  resize_refusal_ = std::move(refusal);
  return std::exchange(refused_resize_, amounts) != amounts;
}

void RefusedPod::resize_taken() {
  refused_resize_.clear();
  resizes_ = true;
}

std::optional<kube::Duration> RefusedPod::resize_left(kube::TimePoint now) const {
  return refused_resize_.empty() ? std::nullopt : std::optional(resize_again_at_ - now);
}

bool RefusedPod::see_resized(const kube::Object& shadow, const kube::Object& remote) {
  if (!resizes_ || !has_resized(shadow, remote)) return false;
  resizes_ = false;
  return true;
}

}  // namespace liqo::core
