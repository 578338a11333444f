// The amounts that the ShadowPods in the twins of consumers hold, summed up by twin and by user.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/namespaces/twin_pod_bounds.hpp"

namespace liqo::core {

/// A ShadowPod that has not finished.
struct CountedPod {
  std::string user;      ///< the creator label
  Resources demand;      ///< with one of "pods"
  bool waiting = false;  ///< its Pod is not there yet
};

/// Keeps the sums as pods come, change and go. One thread.
class TwinPodCount {
 public:
  /// Counts the ShadowPod under this key, which was not counted before, or was forgotten.
  void add(const kube::ObjectKey& key, CountedPod pod);
  /// Does nothing if it is not counted.
  void forget(const kube::ObjectKey& key);

  const HeldByUser& held() const { return held_; }
  /// The twins that have a pod which counts.
  std::vector<std::string> twins() const;
  /// The pods that are counted in a twin.
  std::vector<kube::ObjectKey> pods_in(std::string_view twin) const;
  /// Sets `waiting` and `whole` of the twin; leaves them as they are if it has no pod that counts.
  void read(TwinPods& twin) const;

 private:
  struct Sum {
    Resources waiting, whole;
  };

  std::unordered_map<kube::ObjectKey, CountedPod> pods_;
  std::map<std::string, Sum, std::less<>> sums_;  ///< by twin that has a pod which counts
  HeldByUser held_;
};

}  // namespace liqo::core
