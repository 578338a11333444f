// The pods of a virtual node that wait because their last order was refused for lack of room.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "controllers/offloading/offloading_node.hpp"
#include "core/common/resources.hpp"

namespace liqo::controllers {

/// Knows whether the provider is full, which closes the Node. Pods that would not even fit on an empty Node do not
/// close it. One thread.
class PodsWithoutRoom {
 public:
  /// `node` outlives this.
  explicit PodsWithoutRoom(OffloadingNode& node);
  PodsWithoutRoom(const PodsWithoutRoom&) = delete;
  PodsWithoutRoom& operator=(const PodsWithoutRoom&) = delete;

  /// Whether a pod that would fit on the Node waits for room, or did so until a moment ago.
  bool is_full() const { return closing_ > 0 || node_.context.clock.now() < full_until_; }
  std::size_t count() const { return waiting_.size(); }
  /// Sets what is called when `is_full` may have changed.
  void on_change(std::function<void()> handler) { changed_ = std::move(handler); }
  /// Sets whether the Node has the taint that keeps new pods away. `is_reported`: the provider itself reports it.
  void set_closed(bool closed, bool is_reported);

  /// The pod waits because there is no room for it.
  void add(const kube::Object& local);
  /// The pod waits no longer.
  void remove(const kube::ObjectKey& key);
  /// The provider has taken a pod: it is not full.
  void see_taken();
  /// Whether the pod waits for room while the Node is closed to new pods.
  bool is_shut_out(const kube::ObjectKey& key) const { return closed_ && waiting_.contains(key); }
  /// Why the waiting pod would not even fit on an empty Node; "" = it would, or the pod does not wait.
  std::string why_too_large(const kube::ObjectKey& key) const;

 private:
  struct Waiting {
    core::Resources demand;
    bool fits = false;  ///< the pod would fit on an empty Node
  };
  /// Takes in the allocatable resources of the Node.
  void see_node();
  void notify_change() const {
    if (changed_) changed_();
  }

  OffloadingNode& node_;
  std::map<kube::ObjectKey, Waiting> waiting_;
  std::size_t closing_ = 0;       ///< those of them that fit
  core::Resources allocatable_;   ///< of the Node; nothing if it is not known
  kube::TimePoint full_until_{};  ///< until when the provider counts as full though no pod waits
  bool closed_ = false, closed_is_reported_ = false;
  std::function<void()> changed_;
  kube::InformerHandle nodes_;  ///< what the scheduler at home goes by
};

}  // namespace liqo::controllers
