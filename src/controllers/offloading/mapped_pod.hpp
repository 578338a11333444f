// One pod of a virtual node whose namespace has a twin.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "controllers/offloading/daemon_set_notices.hpp"
#include "controllers/offloading/missing_tokens.hpp"
#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_certificates.hpp"
#include "controllers/offloading/pod_ends.hpp"
#include "controllers/offloading/pod_orders.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "controllers/offloading/pod_warnings.hpp"
#include "controllers/offloading/pods_without_room.hpp"
#include "controllers/offloading/refused_pods.hpp"
#include "controllers/offloading/token_secrets.hpp"
#include "controllers/offloading/trust_copies.hpp"
#include "controllers/offloading/unmapped_pods.hpp"
#include "core/offloading/pod_plan.hpp"

namespace liqo::controllers {

/// Reconciles one pod, once: takes a snapshot of the caches, plans, carries out the plan, and shows at home what the
/// provider reports.
///
/// Lifetime: it lives in the frame of one reconcile. It owns the snapshot, which may be out of date after an await.
/// What is remembered of the pod is looked up each time. One thread.
class MappedPod {
 public:
  /// The services that reconciling a pod needs. All outlive it.
  struct Services {
    OffloadingNode& node;
    PodTwins& twins;
    DaemonSetNotices& daemon_sets;
    MissingTokens& missing_tokens;
    HomeTokens& home_tokens;
    TokenSecrets& token_secrets;
    PodTokens& tokens;
    TrustCopies& trust;
    PodCertificates& certificates;
    PodWarnings& warnings;
    PodStatusWriter& statuses;
    PodsWithoutRoom& room;
    RefusedPods& refused;
    PodOrders& orders;
    PodEnds& ends;
    UnmappedPods& unmapped;
  };
  /// Reads the caches, and starts the cache of the token Secrets if the pod needs it. The namespace of the key has a
  /// twin.
  MappedPod(const Services& services, const kube::ObjectKey& key, const std::string& remote_namespace);

  asio::awaitable<kube::Outcome> reconcile();

 private:
  /// The pod as the caches have it.
  struct Snapshot {
    kube::ObjectKey key, remote_key;
    std::optional<kube::Object> local = {}, shadow = {}, remote = {};
    bool withdrawn = false;        ///< whether the twin is withdrawn
    core::TokenKeys mounted = {};  ///< the tokens that the ShadowPod mounts
    bool needs_tokens = false, knows_tokens = false;

    core::PodSight sight() const;
  };
  /// The progress in carrying out the plan.
  struct Progress {
    kube::Outcome outcome = kube::Outcome::done();  ///< how the reconcile ends unless something is due sooner
    bool is_sent = false;                           ///< the provider has all that the pod asks for, or has refused it
    std::string ephemeral_refusal = {};
    core::ResizeRefusal resize_refusal = {};
    std::optional<kube::Duration> resize_left = {};  ///< until a refused resize is asked for again
  };

  /// What is remembered of the pod, which exists.
  RememberedPod& memory() { return services_.node.memory.of(seen_.key, seen_.local->uid()); }
  kube::TimePoint now() const { return services_.node.context.clock.now(); }
  /// Updates what is remembered from the snapshot, and returns the part that the plan needs.
  core::PodMemory remember();
  /// Wakes other pods that the plan makes room for.
  void note_plan(const core::PodAction& plan);
  /// Each carries out a part of the plan; an Outcome ends the reconcile there.
  asio::awaitable<std::optional<kube::Outcome>> confirm_end();
  asio::awaitable<std::optional<kube::Outcome>> act(const core::PodAction& plan);
  /// Whether the pod still exists and is not being deleted, and has the same twin, which is not withdrawn.
  bool is_still_wanted();
  asio::awaitable<std::optional<kube::Outcome>> order();
  /// How the reconcile ends if the pod is not ordered now.
  kube::Outcome not_ordered(kube::Failure failure);
  /// Sees to it that the audiences of home's API server are known if it depends on them which tokens the pod gets.
  asio::awaitable<std::optional<kube::Outcome>> learn_audiences();
  /// Refuses the pod if it can never run there as it is.
  asio::awaitable<std::optional<kube::Outcome>> refuse_hopeless();
  asio::awaitable<kube::Outcome> await_shadow();
  /// Writes changes at home into the ShadowPod.
  asio::awaitable<kube::Result<void>> keep();
  asio::awaitable<void> keep_size();
  /// Renews the tokens that the ShadowPod mounts.
  asio::awaitable<void> keep_tokens();
  /// Brings the trust bundles and the certificates that the pod mounts before it is sent. Returns how long it waits.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> prepare_files();
  /// Brings those that the ShadowPod mounts up to date.
  asio::awaitable<void> keep_files();
  /// Carries out a plan that ends the pod, on one side or on both.
  asio::awaitable<kube::Result<void>> end(const core::PodAction& plan);
  asio::awaitable<kube::Result<void>> refuse_foreign(const core::pod_action::RefuseForeign& action);
  asio::awaitable<kube::Result<void>> fail_local(const core::pod_action::FailLocal& action);
  /// Writes the status at home. Before that it drops the provider's objects from the snapshot, to free memory.
  asio::awaitable<std::optional<kube::Outcome>> show();
  /// How the reconcile ends if the status may be written later.
  std::optional<kube::Outcome> status_waits();

  const Services& services_;
  Snapshot seen_;
  Progress progress_;
};

}  // namespace liqo::controllers
