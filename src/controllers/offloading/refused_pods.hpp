// The refused pods of a virtual node, and when they ask their provider again.
// Tested by test/unit/controllers/offloading/pod_test.cpp and test/unit/controllers/offloading/resize_test.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/offloading/offloading_node.hpp"
#include "core/offloading/refused_orders.hpp"

namespace liqo::controllers {

/// Of all pods that are refused alike one asks again; the others are woken as it is taken. What each does by itself is
/// RefusedPod. One thread.
class RefusedPods {
 public:
  /// `node` outlives this.
  explicit RefusedPods(OffloadingNode& node);
  RefusedPods(const RefusedPods&) = delete;
  RefusedPods& operator=(const RefusedPods&) = delete;

  /// The provider may have room again: the refused pods that ask for their demand are ordered soon.
  void ask_again();
  /// The order of the pod was refused as those of `group` (`refusal_group`).
  void refused(const kube::ObjectKey& key, std::string group);
  /// Its order was taken.
  void taken(const kube::ObjectKey& key) { wake(orders_.taken(key)); }
  /// It is not to be sent any more.
  void left(const kube::ObjectKey& key) { wake(orders_.left(key)); }
  /// Whether the pod waits for another one of its group.
  bool waits(const kube::ObjectKey& key) const { return orders_.waits(key); }
  /// Takes whether a resize of the pod waits for room.
  void set_resize_waits(const kube::ObjectKey& key, bool waits);

 private:
  void wake(const std::vector<kube::ObjectKey>& pods, kube::Duration delay = {});
  /// Has ask_again() called when something else is granted to this node.
  void follow_grants();

  OffloadingNode& node_;
  core::RefusedOrders orders_;
  kube::TimePoint asking_at_{};                     ///< when `ask_again` makes pods ask
  std::set<kube::ObjectKey> resizes_;               ///< pods whose last resize was refused for lack of room
  kube::ObjectKey last_resize_;                     ///< the one of them that `ask_again` made ask last
  std::map<std::string, std::string> slice_names_;  ///< of the VirtualNodes of this node's name, by their namespaces
  kube::InformerHandle virtual_nodes_, slices_;
};

}  // namespace liqo::controllers
