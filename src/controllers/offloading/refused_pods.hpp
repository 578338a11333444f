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

/// Of all pods that are refused for the same reason, one asks again; the others are woken when its order is taken.
/// RefusedPod handles each pod by itself. One thread.
class RefusedPods {
 public:
  /// `node` outlives this.
  explicit RefusedPods(OffloadingNode& node);
  RefusedPods(const RefusedPods&) = delete;
  RefusedPods& operator=(const RefusedPods&) = delete;

  /// Has the refused pods that ask for their group ordered soon, because the provider may have room again.
  void ask_again();
  /// Notes that the order of the pod was refused like those of `group` (`refusal_group`).
  void refused(const kube::ObjectKey& key, std::string group);
  /// Notes that the order of the pod was taken.
  void taken(const kube::ObjectKey& key) { wake(orders_.taken(key)); }
  /// Notes that the order of the pod is not to be sent any more.
  void left(const kube::ObjectKey& key) { wake(orders_.left(key)); }
  /// Whether the pod waits for another one of its group.
  bool waits(const kube::ObjectKey& key) const { return orders_.waits(key); }
  /// Sets whether a resize of the pod waits for room.
  void set_resize_waits(const kube::ObjectKey& key, bool waits);

 private:
  void wake(const std::vector<kube::ObjectKey>& pods, kube::Duration delay = {});
  /// Calls ask_again() when the grant of this node changes.
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
