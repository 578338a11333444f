// The twins in this cluster whose pods are bounded by a ResourceQuota, and the ShadowPods that wait for room in them.
// Tested by test/unit/controllers/namespaces/twin_pod_bounds_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "core/common/resources.hpp"
#include "quota/pod_surroundings.hpp"

namespace liqo::controllers {

/// Watches the ResourceQuotas of twins, and wakes the ShadowPods that wait for them. One thread.
class BoundedTwins {
 public:
  /// `wake`: called with a ShadowPod that is to be tried again, which has stopped waiting by then; must not suspend.
  BoundedTwins(Context context, std::function<void(const kube::ObjectKey& shadow)> wake);

  /// Whether a ResourceQuota bounds the pods of the twin.
  bool is_bounded(const std::string& twin) const { return bounds_.contains(twin); }
  /// Whether that ResourceQuota exists and counts the pods.
  bool is_counted(const std::string& twin) const;
  /// Whether the API server refuses a Pod, or its resize, because the ResourceQuota of its twin has no room for it.
  static bool lacks_room(const kube::Failure& refusal);
  /// Whether name_requests() can be called. The first call starts the watches that it needs.
  bool knows_defaults();
  /// Sets the requests of the containers of a Pod for the twin, as far as no LimitRange of the twin sets them.
  void name_requests(const std::string& twin, kube::Object& pod) const;

  /// The ShadowPod waits for room in its twin from now on.
  void await_room(const kube::ObjectKey& shadow) { short_[shadow.ns].insert(shadow); }
  void stop_waiting(const kube::ObjectKey& shadow);
  /// The twins in which ShadowPods wait.
  std::vector<std::string> waited_for() const;
  /// Wakes all ShadowPods that wait for room in the twin.
  void wake_all(const std::string& twin);

 private:
  /// The bounds in a twin's ResourceQuota for pods.
  struct Bounds {
    std::string hard;
    core::Resources used;
    bool counted = false;
  };
  void see(const kube::Change& quota);
  /// Wakes at most `max_keys` ShadowPods that wait for room in the twin.
  void wake(const std::string& twin, std::size_t max_keys);

  Context context_;
  std::function<void(const kube::ObjectKey& shadow)> wake_;
  kube::InformerHandle quotas_;
  std::optional<quota::PodSurroundings> surroundings_;      ///< made when the first twin has bounded pods
  std::map<std::string, Bounds> bounds_;                    ///< by twin whose pods are bounded
  std::map<std::string, std::set<kube::ObjectKey>> short_;  ///< by twin: the ShadowPods that wait for room in it
};

}  // namespace liqo::controllers
