#include "core/offloading/order_memory.hpp"

#include <utility>

#include "core/offloading/order.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

/// The least time between two writes of the reason why a pod is not created.
constexpr kube::Duration report_interval = 30s;
/// The least time between two Events that a pod finds no room in the bounds.
constexpr kube::Duration reported_short_pause = 1min;

}  // namespace

void OrderMemory::observe(const kube::Object& shadow, const kube::Object* pod, kube::TimePoint now, bool inherited) {
  if (uid_ != shadow.uid()) {
    *this = {};
    uid_ = shadow.uid();
  }
  if (pod) see_pod(seen_, shadow, *pod);
  seen_.node_silent = pod && awaited_ == pod->uid() && now - awaited_since_ >= node_patience;
  seen_.create_in_doubt = now < in_doubt_until_;
  seen_.inherited = inherited;
}

void OrderMemory::doubt_create(kube::TimePoint sent_at, bool timed_out) {
  seen_.create_tried = true;
  if (timed_out) in_doubt_until_ = sent_at + create_doubt;
}

void OrderMemory::note_created(kube::TimePoint now) {
  seen_.pod_created = true;
  waits_since_.reset();
  not_taken_since_.reset();
  created_at_ = now;
}

kube::Duration OrderMemory::await_node(std::string_view pod_uid, kube::TimePoint now) {
  if (std::exchange(awaited_, std::string(pod_uid)) != pod_uid) awaited_since_ = now;
  return node_patience - (now - awaited_since_);
}

kube::Duration OrderMemory::await_confirmation(kube::TimePoint now) {
  if (!unconfirmed_since_) unconfirmed_since_ = now;
  return confirm_patience - (now - *unconfirmed_since_);
}

kube::Duration OrderMemory::await_bounds(kube::TimePoint now) {
  if (!waits_since_) waits_since_ = now;
  return now - *waits_since_;
}

kube::Duration OrderMemory::await_taking(kube::TimePoint now) {
  if (!not_taken_since_) not_taken_since_ = now;
  return now - *not_taken_since_;
}

bool OrderMemory::may_report(kube::TimePoint now) {
  if (reported_at_ && now - *reported_at_ < report_interval) return false;
  reported_at_ = now;
  return true;
}

bool OrderMemory::may_report_no_room(kube::TimePoint now) {
  if (reported_short_ && now - *reported_short_ < reported_short_pause) return false;
  reported_short_ = now;
  return true;
}

kube::Duration OrderMemory::left_of_resize_pause(std::string_view digest, kube::TimePoint now) const {
  if (resize_refused_ != digest || resize_again_at_ <= now) return {};
  return resize_again_at_ - now;
}

bool OrderMemory::note_resize_refused(std::string_view digest, bool is_short, kube::TimePoint now) {
  resize_again_at_ = now + resize_pause;
  resize_short_ = is_short;
  return std::exchange(resize_refused_, std::string(digest)) != digest;
}

}  // namespace liqo::core
