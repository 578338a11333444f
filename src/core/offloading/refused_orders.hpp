// Which of the pods that a provider refused ask again: one for each group that is refused alike. Pure.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The group of a refusal: the namespace, the resources of the pod, and the provider's words without the pod's name and
/// without words that have a digit, such as the use of a quota.
std::string refusal_group(const kube::Object& local, std::string_view words);

/// Decides which refused pods ask again. Ten thousand pods behind one cordon would get the same answer. Therefore one
/// pod of each group asks and the others wait. When it is taken, two of them ask, and so on, until one is refused
/// again. Holds no more than the pods that it was given.
class RefusedOrders {
 public:
  /// The pod is refused as `group` now. If it was in another group, it leaves that one; returns the pods that are to
  /// ask there.
  std::vector<kube::ObjectKey> changed(const kube::ObjectKey& pod, const std::string& group);
  /// Adds a refused pod to its group, after a call of `changed`. Whether this pod is to ask again; else it waits.
  bool refused(const kube::ObjectKey& pod, std::string group);
  bool waits(const kube::ObjectKey& pod) const;
  /// The pod was taken. Returns the pods that are to ask now.
  std::vector<kube::ObjectKey> taken(const kube::ObjectKey& pod);
  /// The pod is no longer to be sent. Returns the pods that are to ask in its place.
  std::vector<kube::ObjectKey> left(const kube::ObjectKey& pod);
  /// All pods that ask.
  std::vector<kube::ObjectKey> asking() const;

 private:
  struct Group {
    std::set<kube::ObjectKey> asking;
    std::set<kube::ObjectKey> waiting;
  };
  std::vector<kube::ObjectKey> release(const std::string& name, std::size_t max_released);

  std::unordered_map<std::string, Group> groups_;
  std::unordered_map<kube::ObjectKey, std::string> group_of_;
};

}  // namespace liqo::core
