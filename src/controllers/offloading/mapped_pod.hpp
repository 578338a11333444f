// One pod of a virtual node whose namespace has a twin.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_ends.hpp"
#include "controllers/offloading/pod_orders.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "controllers/offloading/pod_warnings.hpp"
#include "controllers/offloading/pods_without_room.hpp"
#include "controllers/offloading/refused_pods.hpp"
#include "controllers/offloading/unmapped_pods.hpp"
#include "core/offloading/pod_plan.hpp"

namespace liqo::controllers {

/// Brings one pod to where it should be, once: takes a snapshot of the caches, has the plan made, carries it out, and
/// shows at home what the provider says.
///
/// Lifetime: it lives in the frame of one reconcile. The snapshot is its own, and may be old after an await; what is
/// remembered of the pod is looked up each time. One thread.
class MappedPod {
 public:
  /// What pods are worked on with. All outlive them.
  struct Services {
    OffloadingNode& node;
    PodTwins& twins;
    PodTokens& tokens;
    PodWarnings& warnings;
    PodStatusWriter& statuses;
    PodsWithoutRoom& room;
    RefusedPods& refused;
    PodOrders& orders;
    PodEnds& ends;
    UnmappedPods& unmapped;
  };
  /// Reads the caches, and starts that of the token Secrets if the pod needs it. The namespace of the key has a twin.
  MappedPod(const Services& services, const kube::ObjectKey& key, const std::string& remote_namespace);

  asio::awaitable<kube::Outcome> reconcile();

 private:
  /// What the caches have of the pod.
  struct Snapshot {
    kube::ObjectKey key, remote_key;
    std::optional<kube::Object> local = {}, shadow = {}, remote = {};
    bool withdrawn = false;  ///< the twin is
    bool mounts_tokens = false, needs_tokens = false, knows_tokens = false;

    core::PodSight sight() const;
  };
  /// What has come of carrying out the plan so far.
  struct Progress {
    kube::Outcome outcome = kube::Outcome::done();  ///< how the reconcile ends unless something is due sooner
    bool is_sent = false;                           ///< the provider has all that the pod asks for, or has refused it
    std::string ephemeral_refusal = {};
    core::ResizeRefusal resize_refusal = {};
    std::optional<kube::Duration> resize_left = {};  ///< until a refused resize is asked for again
  };

  /// What is remembered of the pod, which is there.
  RememberedPod& memory() { return services_.node.memory.of(seen_.key, seen_.local->uid()); }
  kube::TimePoint now() const { return services_.node.context.clock.now(); }
  /// Updates what is remembered by what the caches have, and returns the part that the plan needs.
  core::PodMemory remember();
  /// Wakes other pods that the plan makes room for.
  void note_plan(const core::PodAction& plan);
  /// Each carries out a part of the plan; an Outcome ends the reconcile there.
  asio::awaitable<std::optional<kube::Outcome>> confirm_end();
  asio::awaitable<std::optional<kube::Outcome>> act(const core::PodAction& plan);
  /// Whether the pod is still there and is not being deleted, and its twin is the same and is not withdrawn.
  bool is_still_wanted();
  asio::awaitable<std::optional<kube::Outcome>> order();
  asio::awaitable<kube::Outcome> await_shadow();
  /// Brings what has changed at home to the ShadowPod.
  asio::awaitable<kube::Result<void>> keep();
  asio::awaitable<void> keep_size();
  /// Whatever ends the pod, on one side or both.
  asio::awaitable<kube::Result<void>> end(const core::PodAction& plan);
  asio::awaitable<kube::Result<void>> refuse_foreign(const core::pod_action::RefuseForeign& action);
  asio::awaitable<kube::Result<void>> fail_local(const core::pod_action::FailLocal& action);
  /// Writes the status at home. Meanwhile it gives up what the caches have of the provider.
  asio::awaitable<std::optional<kube::Outcome>> show();
  /// How the reconcile ends where the status may be written later.
  std::optional<kube::Outcome> status_waits();

  const Services& services_;
  Snapshot seen_;
  Progress progress_;
};

}  // namespace liqo::controllers
