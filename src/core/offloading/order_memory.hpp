// The memory of a provider about one ShadowPod: its Pods, since when it waits for what, and what was reported when.
// Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/offloading/shadow_plan.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// How long a Pod that was created may be missing in the cache before it is read live.
inline constexpr kube::Duration unseen_time = std::chrono::seconds(5);
/// A refused resize is tried again after this time: nodes and bounds change.
inline constexpr kube::Duration resize_pause = std::chrono::minutes(1);

/// The memory of one ShadowPod, known by its UID. Losing it is harmless: reports are made again, and waits start again.
class OrderMemory {
 public:
  /// Takes in what caches and clock say. A ShadowPod of another UID is remembered from the beginning. `pod`: null =
  /// there is none. `inherited`: the ShadowPod may be older than what this process knows.
  void observe(const kube::Object& shadow, const kube::Object* pod, kube::TimePoint now, bool inherited);
  /// The UID of the ShadowPod; "" = none was observed.
  const std::string& uid() const { return uid_; }
  /// What the plan goes by.
  const ShadowMemory& seen() const { return seen_; }

  /// A POST of the Pod has ended without an answer that it is refused. `timed_out`: it may be carried out until
  /// `create_doubt` after it was sent.
  void doubt_create(kube::TimePoint sent_at, bool timed_out);
  /// How long the POST may still be carried out.
  kube::Duration left_of_doubt(kube::TimePoint now) const { return in_doubt_until_ - now; }
  /// The Pod was created, and is in the cache soon. It does not wait for the bounds of its twin any more.
  void note_created(kube::TimePoint now);
  /// The Pod that was created is gone again.
  void note_vanished() { seen_.pod_created = false; }
  /// How long the cache may still do without the Pod; not more than zero = it is to be read live.
  kube::Duration left_unseen(kube::TimePoint now) const { return unseen_time - (now - created_at_); }

  /// Begins to wait for the node of that Pod to report its end, unless it waits already. Returns what is left of
  /// `node_patience`.
  kube::Duration await_node(std::string_view pod_uid, kube::TimePoint now);
  /// Begins to wait for the consumer to confirm the order, unless it waits already. Returns what is left of
  /// `confirm_patience`.
  kube::Duration await_confirmation(kube::TimePoint now);
  /// Begins to wait for the bounds of its twin, unless it waits already. Returns how long it has waited.
  kube::Duration await_bounds(kube::TimePoint now);
  /// Begins to wait for the API server to be able to take the Pod, unless it waits already. Returns how long it has
  /// waited.
  kube::Duration await_taking(kube::TimePoint now);

  /// Whether the reason why its Pod is not created may be written on the ShadowPod now; if so, the time is remembered.
  /// Each write brings the ShadowPod back at once: words that differ each time would make a loop.
  bool may_report(kube::TimePoint now);
  /// Whether an Event may report now that there is no room for the Pod; if so, the time is remembered. The figures in
  /// the refusal change all the time, and each would be another Event.
  bool may_report_no_room(kube::TimePoint now);

  /// How long a resize to the amounts of this digest is not tried, because it was refused; zero = it may be tried.
  kube::Duration left_of_resize_pause(std::string_view digest, kube::TimePoint now) const;
  /// Whether the last resize was refused for lack of room in the bounds of the twin.
  bool is_resize_short() const { return resize_short_; }
  /// The resize to these amounts was refused. Returns whether that is new. While it is refused, the note on the Pod
  /// shows how the words change.
  bool note_resize_refused(std::string_view digest, bool is_short, kube::TimePoint now);
  void note_resized() { resize_refused_.clear(); }
  /// A refused resize may be tried at once: the bounds of the twin have changed.
  void end_resize_pause() { resize_again_at_ = {}; }

 private:
  std::string uid_;
  ShadowMemory seen_;
  kube::TimePoint created_at_{};
  kube::TimePoint in_doubt_until_{};                  ///< for `ShadowMemory::create_in_doubt`
  std::string awaited_;                               ///< UID of the pod whose node is waited for to report its end
  kube::TimePoint awaited_since_{};                   ///< for `ShadowMemory::node_silent`
  std::optional<kube::TimePoint> reported_at_;        ///< when the refusal was last written on the ShadowPod
  std::optional<kube::TimePoint> unconfirmed_since_;  ///< it came late, and its consumer has not confirmed it
  std::optional<kube::TimePoint> waits_since_;        ///< since when its Pod waits for the bounds of its twin
  std::optional<kube::TimePoint> not_taken_since_;    ///< since when the API server cannot take its Pod
  std::optional<kube::TimePoint> reported_short_;     ///< when an Event last reported that there is no room for it
  kube::TimePoint resize_again_at_{};                 ///< when a refused resize of its Pod may be tried again
  std::string resize_refused_;                        ///< digest of the refused amounts
  bool resize_short_ = false;  ///< the resize was refused for lack of room in the bounds of its twin
};

}  // namespace liqo::core
