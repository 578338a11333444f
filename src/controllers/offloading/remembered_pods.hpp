// The memory of a PodController about the pods at home.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "controllers/offloading/memory_of.hpp"
#include "core/offloading/ending_pod.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/refused_pod.hpp"

namespace liqo::controllers {

/// What is remembered of one pod at home.
struct RememberedPod {
  std::string uid;
  core::PodMemory plan;
  core::RefusedPod refused;
  core::EndingPod ending;
  kube::TimePoint shadow_created_at{};
  std::optional<kube::WallTime> bound;                ///< to its node, until it is shown as running
  kube::TimePoint in_doubt_until{};                   ///< for `PodMemory::order_in_doubt`
  std::optional<kube::TimePoint> remote_seen_at;      ///< when its remote pod was first seen
  std::optional<kube::TimePoint> without_twin_since;  ///< since when its namespace is seen without a twin
  std::optional<kube::TimePoint> hidden_since;        ///< since when the provider refuses to show what is left of it
  /// Digest of the part of the last status that the API server at home did not store, such as fields of a newer
  /// Kubernetes. It is not sent again while neither side has changed.
  std::string not_taken;
  /// When its next status may be written, within the budget for writes that the provider causes, and for how many
  /// bytes.
  std::optional<kube::TimePoint> status_turn;
  std::size_t status_bytes = 0;
  bool reported_dropped_fields = false, reported_not_reflected = false, reported_labels = false;
  bool reported_namespace = false;               ///< that it reads the name of its twin
  bool reported_reads = false;                   ///< that changes of what it reads about itself no longer follow
  std::optional<std::size_t> reported_left_out;  ///< how many things that its provider leaves out have been reported
  bool looked_behind = false;                    ///< the provider was asked what is left of the pod in a withdrawn twin
  bool freed = false;                            ///< refused pods have been woken because its ShadowPod has finished
  /// Why the provider's API server could not take the last order, in its words; "" = it could, or it has refused it.
  std::string not_taken_because;
  kube::TimePoint words_again_at{};    ///< when the pod's status may give another reason for that
  std::size_t reported_at_change = 0;  ///< how many other silences had been reported when it last did
};

/// A pod is identified by its key and UID: what was remembered of an earlier pod with the key is dropped. References
/// are valid until the next await. One thread.
class RememberedPods {
 public:
  RememberedPod& of(const kube::ObjectKey& key, std::string_view uid) {
    return controllers::memory_of(known_, key, uid);
  }
  RememberedPod& of(const kube::Object& local) { return of(local.key(), local.uid()); }
  /// The pod that last had the key; null if none is remembered.
  RememberedPod* find(const kube::ObjectKey& key) {
    const auto known = known_.find(key);
    return known == known_.end() ? nullptr : &known->second;
  }
  /// The pod with this key and UID; null if it is not remembered.
  RememberedPod* find(const kube::Object& local) {
    RememberedPod* known = find(local.key());
    return known && known->uid == local.uid() ? known : nullptr;
  }
  bool contains(const kube::ObjectKey& key) const { return known_.contains(key); }
  void forget(const kube::ObjectKey& key) { known_.erase(key); }
  /// Forgets what was seen at the provider before, because this process begins to lead.
  void forget_sights() {
    for (auto& [key, known] : known_) known.plan.seen = false;
  }

 private:
  std::unordered_map<kube::ObjectKey, RememberedPod> known_;
};

}  // namespace liqo::controllers
