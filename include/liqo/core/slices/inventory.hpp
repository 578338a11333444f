// What is free in the provider's cluster, kept up to date change by change.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "kube/k8s/object.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core {

/// Whether pods of consumers can come to run on a node: no node of the control plane (whose taints consumers may not
/// tolerate) and no virtual node (what is borrowed is not lent on).
bool is_for_consumers(const kube::Object& node);

/// Whether a node counts for what is shared: one for consumers that is Ready and not cordoned.
bool is_shared_node(const kube::Object& node);

/// Sums what nodes have and what pods request of it. One thread.
class Inventory {
 public:
  /// Takes the state of a node; null where it is gone.
  void set_node(const std::string& name, const kube::Object* node);
  /// Takes the state of a pod; null where it is gone. Pods that have finished or are not bound yet hold nothing.
  void set_pod(const kube::ObjectKey& key, const kube::Object* pod);
  /// Takes which consumer the pods that are offloaded into a namespace belong to; "" = none.
  void set_namespace(const std::string& ns, std::string consumer);

  /// Allocatable of the shared nodes less what pods request there, without the pods that this consumer has offloaded.
  /// Never negative.
  Resources free_for(std::string_view consumer) const;

 private:
  struct Node {
    bool known = false, shared = false;
    Resources allocatable;
    Resources used;                              ///< by all pods on it
    std::map<std::string, Resources> offloaded;  ///< by the pods of consumers, per namespace
  };
  struct Pod {
    std::string node;
    bool offloaded = false;
    Resources requests;
  };
  void release(const kube::ObjectKey& key);

  std::map<std::string, Node> nodes_;
  std::unordered_map<kube::ObjectKey, Pod> pods_;
  std::map<std::string, std::string, std::less<>> consumers_;  ///< by namespace
};

}  // namespace liqo::core
