// Ends the pods of a virtual node, at home and at their provider.
// Tested by test/unit/controllers/offloading/ending_test.cpp and test/unit/controllers/offloading/held_pods_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "controllers/offloading/pod_warnings.hpp"
#include "core/offloading/pod_plan.hpp"

namespace liqo::controllers {

/// Guarantees: every deletion has the UID as a precondition. Nothing is deleted at home while the provider may still
/// have the pod, unless its remote pod does not end. One thread.
class PodEnds {
 public:
  /// What remembers pods besides `OffloadingNode::memory`.
  struct Memories {
    PodTokens& tokens;
    PodWarnings& warnings;
  };
  /// All outlive this.
  PodEnds(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses, Memories memories)
      : node_(node), twins_(twins), statuses_(statuses), memories_(memories) {}

  /// Forgets a pod that is gone.
  void forget(const kube::ObjectKey& key);
  /// Remembers what no cache has of a remote pod once that is gone.
  void see_remote(const kube::ObjectKey& key, const kube::Change& change);
  /// The last state of a remote pod that is gone, for a local pod that is being deleted and has to show how it ended.
  std::optional<kube::Object> last_remote(const kube::Object& local);

  /// Reads the ShadowPod and the remote pod live, and returns whether the caches had them right. Differences go into
  /// the caches.
  asio::awaitable<kube::Result<bool>> confirm(kube::ObjectKey key, kube::ObjectKey remote_key, std::string shadow_uid,
                                              std::string remote_uid);
  asio::awaitable<kube::Result<void>> delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                    core::pod_action::DeleteShadow action);
  /// Writes on the ShadowPod within how many seconds its pod is to end. If the provider refuses that, it is not tried
  /// again.
  asio::awaitable<kube::Result<void>> send_grace(kube::ObjectKey key, kube::Object shadow, std::int64_t seconds);
  /// Removes a pod of which nothing is left at the provider. Its phase becomes final first if others have finalizers on
  /// it.
  asio::awaitable<kube::Result<void>> remove_local(const kube::Object& local);
  /// Deletes a local pod whose remote pod does not end, unless the provider reports that it has ended.
  asio::awaitable<kube::Result<void>> evict_local(kube::Object local, kube::ObjectKey remote_key,
                                                  core::pod_action::EvictLocal action);

 private:
  OffloadingNode& node_;
  PodTwins& twins_;
  PodStatusWriter& statuses_;
  Memories memories_;
};

}  // namespace liqo::controllers
