// Which of the pods that a provider refused asks again: one for all that are refused alike. Pure.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Names what a refusal depends on, as far as can be seen from here: the namespace, what the pod requests, and the
/// provider's words without the pod's name and without anything that has a digit in it (what is used of a quota).
std::string refusal_group(const kube::Object& local, std::string_view words);

/// Ten thousand pods behind one cordon get the same answer. In each group one pod asks and the others wait; when it is
/// taken two of them ask, and so on, until one is refused again. Bounded by the pods that are given to it.
class RefusedOrders {
 public:
  /// The pod is refused in this way, which may be another than before. Answers who is to ask in its place.
  std::vector<kube::ObjectKey> changed(const kube::ObjectKey& pod, const std::string& group);
  /// The pod was refused; before that, `changed` is asked. Whether it is the one to ask again; else it waits.
  bool refused(const kube::ObjectKey& pod, std::string group);
  bool waits(const kube::ObjectKey& pod) const;
  /// The pod was taken. Answers those that are to ask now.
  std::vector<kube::ObjectKey> taken(const kube::ObjectKey& pod);
  /// Nobody wants to send the pod any more. Answers who is to ask in its place.
  std::vector<kube::ObjectKey> left(const kube::ObjectKey& pod);
  /// All pods that ask.
  std::vector<kube::ObjectKey> asking() const;

 private:
  struct Group {
    std::set<kube::ObjectKey> asking;
    std::set<kube::ObjectKey> waiting;
  };
  std::vector<kube::ObjectKey> release(const std::string& name, std::size_t most);

  std::unordered_map<std::string, Group> groups_;
  std::unordered_map<kube::ObjectKey, std::string> group_of_;
};

}  // namespace liqo::core
