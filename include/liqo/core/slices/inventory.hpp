// What is free in the provider's cluster, kept up to date change by change.
// Tested by test/unit/core/slices/share_test.cpp.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "kube/k8s/object.hpp"
#include "liqo/core/quota/resources.hpp"

namespace liqo::core {

/// Whether pods of consumers can run on a node. They cannot on nodes of the control plane, whose taints consumers may
/// not tolerate, nor on virtual nodes, because borrowed resources are not shared again.
bool is_for_consumers(const kube::Object& node);

/// Whether the resources of a node are shared: it is for consumers, Ready and not cordoned.
bool is_shared_node(const kube::Object& node);

/// Sums the resources of nodes and what pods request of them. One thread.
class Inventory {
 public:
  /// Takes the state of a node; null where it is gone.
  void set_node(const std::string& name, const kube::Object* node);
  /// Takes the state of a pod; null where it is gone. Pods that have finished or are not bound yet hold nothing.
  void set_pod(const kube::ObjectKey& key, const kube::Object* pod);
  /// Takes the consumer whose pods are offloaded into a namespace; "" = none.
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
