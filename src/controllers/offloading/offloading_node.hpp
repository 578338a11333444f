// The state that the workers on the pods of one virtual node share.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/twin_owners.hpp"
#include "controllers/links/twin_watches.hpp"
#include "controllers/offloading/remembered_pods.hpp"
#include "core/common/forging_context.hpp"
#include "kube/client/api.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Access to the provider: it is read by `twins` and `caches`, which are shared with other virtual nodes, and written
/// by `api`.
struct PodProvider {
  TwinWatches& twins;
  kube::InformerSet& caches;
  kube::Api& api;
  TwinOwners* owners = nullptr;  ///< the owners of what is written into twins; null = ShadowPods get none
};

/// One virtual node, its provider and its pods at home. Makes no decisions. One thread.
struct OffloadingNode {
  OffloadingNode(core::ForgingContext clusters, PodProvider there, ProviderBudget& limits, Context environment,
                 kube::Controller::Reconcile reconcile);

  /// Enqueues the pod with that key at home.
  void enqueue(const kube::ObjectKey& key) { controller.enqueue({forging.node_name, key}); }
  void enqueue_after(const kube::ObjectKey& key, kube::Duration delay) {
    controller.enqueue_after({forging.node_name, key}, delay);
  }
  /// Sends a Warning about a pod at home.
  void warn(const kube::Object& local, std::string_view reason, std::string message) const {
    context.events.warning(local, kube::resources::pods, reason, std::move(message));
  }
  const std::string& cluster() const { return forging.clusters.remote; }
  /// Whether an object at the provider was made for the pod with this UID.
  bool is_made_for(const kube::Object& there, std::string_view uid) const;
  /// Whether the pod was created after this process began to lead: no other process can have offloaded it.
  bool is_ours_alone(const kube::Object& local) const;
  /// Notes whether the remote pod has a node, and returns whether the remote pod belongs to this pod.
  bool see_placed(RememberedPod& pod, const kube::Object& remote) const;

  core::ForgingContext forging;
  PodProvider provider;
  ProviderBudget& budget;
  Context context;
  kube::TimePoint begun;  ///< the time since when only this process has offloaded pods
  RememberedPods memory;
  kube::InformerHandle local_pods;
  kube::Controller controller;
};

}  // namespace liqo::controllers
