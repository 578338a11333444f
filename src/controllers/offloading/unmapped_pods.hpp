// The pods of a virtual node that cannot be offloaded.
// Tested by test/unit/controllers/offloading/pod_test.cpp, test/unit/controllers/offloading/held_pods_test.cpp and
// test/unit/controllers/offloading/ephemeral_containers_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_ends.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_twins.hpp"

namespace liqo::controllers {

/// Rejects pods whose namespace has no twin, and those that a virtual node never runs. One thread.
class UnmappedPods {
 public:
  /// All outlive this.
  UnmappedPods(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses, PodEnds& ends)
      : node_(node), twins_(twins), statuses_(statuses), ends_(ends) {}

  /// Sets the message for pods whose provider has taken our rights away; "" = it has not. Returns whether the message
  /// has changed.
  bool set_withdrawal(std::string withdrawal);
  /// Reconciles a pod whose namespace has no twin.
  asio::awaitable<kube::Outcome> reconcile(kube::ObjectKey key, kube::Object local);
  /// Ends a pod of `kubectl debug node/…`: a virtual node is no machine to look at.
  asio::awaitable<kube::Outcome> end_node_debugger(kube::Object local);

 private:
  /// Writes the status, and then sends an Event with its message.
  asio::awaitable<kube::Outcome> show(kube::Object local, core::WantedStatus wanted, std::string_view reason,
                                      std::string message);

  OffloadingNode& node_;
  PodTwins& twins_;
  PodStatusWriter& statuses_;
  PodEnds& ends_;
  std::string withdrawal_;
};

}  // namespace liqo::controllers
