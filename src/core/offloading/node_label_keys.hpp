// The keys of the labels that nodes of this cluster have: those by which pods can be spread or put together.
// Tested by test/unit/core/offloading/node_label_keys_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Counts the nodes for consumers (is_for_consumers) by the keys of their labels. Nodes with the same keys share one
/// list. One thread.
class NodeLabelKeys {
 public:
  NodeLabelKeys() = default;
  // Not to be copied: a node refers to the count of its list.
  NodeLabelKeys(NodeLabelKeys&&) = default;
  NodeLabelKeys& operator=(NodeLabelKeys&&) = default;

  /// Takes the state of a node; null if it is gone. A heartbeat allocates nothing.
  void set_node(const std::string& name, const kube::Object* node);
  /// Those of the keys that no node has. None if there is no node: nothing is known then.
  std::vector<std::string> missing(const std::vector<std::string>& keys) const;

 private:
  /// How many nodes have these keys. Those of a cluster have few different lists.
  using Counts = std::map<std::vector<std::string>, int>;

  Counts counts_;
  std::map<std::string, int> lists_;  ///< how many lists have a key: consumers choose how many are asked for
  std::map<std::string, Counts::iterator> nodes_;
};

}  // namespace liqo::core
