#include "core/offloading/ending_pod.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/ending.hpp"
#include "core/offloading/pod_plan.hpp"

namespace liqo::core {

void EndingPod::see(const kube::Object* remote, kube::TimePoint now) {
  if (!remote || !remote->is_deleting()) {
    uid_.clear();
    lasts_ = kube::Duration::zero();
    return;
  }
  if (std::exchange(uid_, std::string(remote->uid())) != remote->uid()) since_ = now;
  lasts_ = now - since_;
}

std::optional<kube::Duration> EndingPod::left(const kube::Object& local, const kube::Object& remote) const {
  const auto most = local.is_deleting() ? std::nullopt : ending_may_take(remote);
  return most ? std::optional(*most - lasts_) : std::nullopt;
}

kube::Duration EndingPod::await_begin(std::int64_t seconds, kube::TimePoint now) {
  if (std::exchange(asked_for_, seconds) != seconds) asked_at_ = now;
  const kube::Duration left = grace_patience - (now - asked_at_);
  if (left <= kube::Duration::zero()) given_up_ = seconds;
  return std::max(left, kube::Duration::zero());
}

void EndingPod::see_change(const kube::Object& remote, bool is_gone) {
  last_.clear();
  if (!is_gone || !is_over(remote)) return;
  // It has left the cache, and with it the provider's budget. A text that is too long is shown as an end that nobody
  // knows.
  if (std::string text = remote.text(); text.size() <= max_last) last_ = std::move(text);
}

std::optional<kube::Object> EndingPod::last() const {
  if (last_.empty()) return std::nullopt;
  auto last = kube::Object::parse(last_);
  return last ? std::optional(std::move(*last)) : std::nullopt;
}

}  // namespace liqo::core
