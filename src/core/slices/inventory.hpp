// The resources that are free in the provider's cluster, kept up to date change by change.
// Tested by test/unit/core/slices/share_test.cpp.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "core/common/resources.hpp"
#include "kube/base/quantity.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether pods of consumers can run on a node. They cannot on nodes of the control plane, whose taints consumers may
/// not tolerate, nor on virtual nodes, because borrowed resources are not shared again.
bool is_for_consumers(const kube::Object& node);

/// Whether the resources of a node are shared: it is for consumers, Ready and not cordoned.
bool is_shared_node(const kube::Object& node);

/// Sums the resources of nodes and what pods request of them. A change costs what its node or pod has, and an answer as
/// much as there are resources, however many nodes and namespaces there are. One thread.
class Inventory {
 public:
  /// Takes the state of a node; null if it is gone.
  void set_node(const std::string& name, const kube::Object* node);
  /// Takes the state of a pod; null if it is gone. Pods that have finished or are not bound yet hold nothing.
  void set_pod(const kube::ObjectKey& key, const kube::Object* pod);
  /// Takes the consumer whose pods are offloaded into a namespace; "" = none.
  void set_namespace(const std::string& ns, std::string consumer);

  /// Allocatable of the shared nodes less what pods request there, without the pods that this consumer has offloaded.
  /// Never negative.
  Resources free_for(std::string_view consumer) const;

 private:
  using Sums = std::map<std::string, kube::QuantitySum, std::less<>>;
  using Parts = std::map<std::string, Sums, std::less<>>;
  struct Node {
    bool known = false, shared = false;
    Resources allocatable;
    Sums used;        ///< by all pods on it
    Parts offloaded;  ///< by the pods of consumers, per namespace
  };
  struct Pod {
    std::string node;
    bool offloaded = false;
    Resources requests;
  };
  /// What shared nodes offer of one resource, less what is used of it there.
  struct Free {
    kube::QuantitySum amount;
    std::ptrdiff_t nodes = 0;  ///< that offer it
  };
  enum class Change { add, take };

  static void change_sum(kube::QuantitySum& sum, const kube::QuantitySum& amount, Change change);
  /// Changes the sums by the amount; a sum that becomes zero is removed.
  static void change_sums(Sums& sums, const std::string& resource, const kube::QuantitySum& amount, Change change);
  static void change_part(Parts& parts, const std::string& name, const std::string& resource,
                          const kube::QuantitySum& amount, Change change);
  void release(const kube::ObjectKey& key);
  void change_pod(const std::string& ns, const Pod& pod, Node& node, Change change);
  /// What a shared node adds to the sums over all nodes.
  void change_share(const Node& node, Change change);
  void change_offloaded(const std::string& ns, const std::string& resource, const kube::QuantitySum& amount,
                        Change change);

  std::map<std::string, Node> nodes_;
  std::unordered_map<kube::ObjectKey, Pod> pods_;
  std::map<std::string, std::string, std::less<>> consumers_;  ///< by namespace
  // Over shared nodes, and of the resources that each of these offers:
  std::map<std::string, Free, std::less<>> free_;
  Parts offloaded_;  ///< what is used by the pods of consumers, per namespace
  Parts borrowed_;   ///< the same, per consumer
};

}  // namespace liqo::core
