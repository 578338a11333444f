// The end of a remote pod, as far as it is remembered for the pod at home. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// How long the end of a remote pod takes, within what time its provider was asked to end it, and how it has ended. All
/// times are by our own clock. Losing it (restart) is harmless. One thread.
class EndingPod {
 public:
  /// Bytes of a remote pod that are remembered beyond its end; a container has one or two KiB of them.
  static constexpr std::size_t max_last = 32 << 10;

  /// Takes what the provider has of the pod now; null = nothing.
  void see(const kube::Object* remote, kube::TimePoint now);
  /// How long the remote pod had been seen to be deleted when it was last seen; zero = it is not.
  kube::Duration lasts() const { return lasts_; }
  /// How long the remote pod may still take to end, less than zero once it is overdue. Nothing if no end is waited for:
  /// it is not to end, or the pod at home is being deleted.
  std::optional<kube::Duration> left(const kube::Object& local, const kube::Object& remote) const;

  /// The remote pod is to begin to end, within `seconds`. Returns how long its provider may still take to begin, from
  /// the first call with these seconds on (`grace_patience`). Zero: that time is over, and they are given up.
  kube::Duration await_begin(std::int64_t seconds, kube::TimePoint now);
  /// The provider refuses to end the remote pod within these seconds.
  void give_up(std::int64_t seconds) { given_up_ = seconds; }
  /// The seconds that were given up, for `PodMemory::grace_given_up`.
  const std::optional<std::int64_t>& given_up() const { return given_up_; }

  /// Takes whether the pod at home has to show a final phase before it is removed (`needs_final_phase`).
  void see_local(bool needs_phase) { needs_phase_ = needs_phase; }
  bool needs_phase() const { return needs_phase_; }
  /// Takes the remote pod as it is, or as it was when it went. One that is gone and had ended is remembered, unless it
  /// is larger than `max_last` bytes: home may not show its end yet.
  void see_change(const kube::Object& remote, bool is_gone);
  /// The remote pod that see_change() has remembered; nothing = none.
  std::optional<kube::Object> last() const;

 private:
  std::string uid_;  ///< of the remote pod that is being deleted
  kube::TimePoint since_{};
  kube::Duration lasts_{};
  std::optional<std::int64_t> asked_for_;  ///< the grace time that the provider has been asked for since `asked_at_`
  kube::TimePoint asked_at_{};
  std::optional<std::int64_t> given_up_;
  bool needs_phase_ = false;
  std::string last_;  ///< as text
};

}  // namespace liqo::core
