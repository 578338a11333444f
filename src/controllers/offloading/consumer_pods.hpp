// The nodes of this cluster that run pods of each consumer, from the caches.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/usage/consumer_view.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Follows the Pods of consumers, their twin namespaces, and the nodes that are not virtual. One thread.
class ConsumerPods {
 public:
  /// `home` outlives this.
  explicit ConsumerPods(kube::InformerSet& home);

  /// True once Pods, twin namespaces and nodes are known: nodes_of() is incomplete before.
  bool has_synced() const { return pods_->has_synced() && namespaces_->has_synced() && nodes_->has_synced(); }
  /// The nodes that are Ready and run pods of the consumer in its twin namespaces, by name.
  std::vector<core::NodeView> nodes_of(std::string_view consumer) const;

 private:
  /// Pods by the node that they run on.
  using PodsByNode = std::map<std::string, std::set<kube::ObjectKey>, std::less<>>;
  struct Place {
    std::string consumer, node;
  };
  void take(const kube::Change& pod);

  std::map<std::string, PodsByNode, std::less<>> pods_of_;  ///< by consumer
  std::map<kube::ObjectKey, Place> places_;
  kube::InformerHandle pods_, namespaces_, nodes_;
};

}  // namespace liqo::controllers
