// When a pod at home asks again after its provider has refused an order or a resize. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/offloading/resize.hpp"
#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The refusals that one pod at home has met: of orders, which are ShadowPods that were to be created, and of resizes.
/// Losing it (restart) is harmless: the pod asks once more. One thread.
class RefusedPod {
 public:
  /// Without a change the pauses between two orders grow from the first to the second.
  static constexpr kube::Duration first_pause = std::chrono::seconds(1), max_pause = std::chrono::seconds(60);
  /// A pod that waits for another one of the same demand is ordered after this time in any case, plus up to half of
  /// it: the two may differ in what only the provider knows.
  static constexpr kube::Duration max_wait = std::chrono::hours(1);
  /// A removed twin, or rights in it, come back sooner than that; the rights of a drained tenant do not.
  static constexpr kube::Duration rights_patience = std::chrono::minutes(1);
  /// When a refused resize is asked for again: room comes and goes without notice.
  static constexpr kube::Duration resize_pause = std::chrono::seconds(30);

  /// The provider has refused the order with this digest.
  void refused(std::string order, kube::TimePoint now);
  /// The provider has taken an order.
  void taken();
  /// The pod may be ordered at once: there may be room again.
  void ask_again() { refused_at_.reset(); }
  /// When an order was last refused; nothing = the pod may be ordered at once.
  const std::optional<kube::TimePoint>& refused_at() const { return refused_at_; }
  /// A time to wait, and how much more at most, by chance: those that wait alike are not to ask at once.
  struct Pause {
    kube::Duration least{}, spread{};
    bool operator==(const Pause&) const = default;
  };
  /// How long the order with this digest has to wait, because it was refused a moment ago, or because `waits`: another
  /// pod of the same demand asks for both. Nothing = it is sent now, as is one that was changed since its refusal.
  std::optional<Pause> wait(std::string_view order, bool waits, kube::TimePoint now) const;

  /// Whether an order finds room at the provider.
  enum class Room {
    unknown,  ///< the failure is a temporary one, which says nothing about that
    there,
    lacking,  ///< also if rights have been missing for `rights_patience`
  };
  /// Takes the answer to an order; null = it was taken.
  Room see_answer(const kube::Failure* refusal, kube::TimePoint now);

  /// The refusal of a resize to the amounts with this digest that still holds; null = it may be asked for.
  const ResizeRefusal* standing_resize(std::string_view amounts, kube::TimePoint now) const;
  /// The provider has refused that resize. Returns whether its words are news: it has not refused just these amounts
  /// before.
  bool resize_refused(std::string amounts, ResizeRefusal refusal, kube::TimePoint now);
  /// The provider has taken a resize, and has not completed it yet.
  void resize_taken();
  /// The provider has the amounts of the pod: no resize is refused any more.
  void resize_kept() { refused_resize_.clear(); }
  /// The resize may be asked for at once: there may be room again.
  void ask_resize_again() { resize_again_at_ = {}; }
  /// The time until the refused resize is asked for again; nothing = none is refused.
  std::optional<kube::Duration> resize_left(kube::TimePoint now) const;
  /// Whether the provider has completed a resize since the last call, which may have freed room.
  bool see_resized(const kube::Object& shadow, const kube::Object& remote);

 private:
  std::optional<kube::TimePoint> refused_at_;
  int refusals_ = 0;   ///< since the provider took an order
  std::string order_;  ///< digest of the last one that was refused
  std::optional<kube::TimePoint> without_rights_since_;
  std::string refused_resize_;  ///< digest of its amounts
  ResizeRefusal resize_refusal_;
  kube::TimePoint resize_again_at_{};
  bool resizes_ = false;  ///< the provider has taken a resize and not completed it yet
};

}  // namespace liqo::core
