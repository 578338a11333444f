// The provider's half of offloading: makes the Pod of each ShadowPod, and recreates it when it is lost, never when it
// has finished.
#pragma once

#include <string>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/offloading/bounded_twins.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "controllers/offloading/shadow_pod_writer.hpp"
#include "controllers/offloading/twin_consumers.hpp"
#include "controllers/offloading/twin_pod_maker.hpp"
#include "controllers/offloading/twin_pod_writer.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Serves all consumers of this cluster; each has its share of the workers. The ShadowPod's `status.phase` is the
/// durable record of what has run: a restart at any moment neither runs a pod twice nor forgets one. One thread.
class ShadowPodController final : public Runnable {
 public:
  /// `names` outlives this.
  ShadowPodController(const HomeNames& names, Context context);

  asio::awaitable<void> run() override;
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy() || shadow_writer_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  /// Forgets a ShadowPod that is gone, and releases its pod.
  asio::awaitable<kube::Outcome> forget(kube::ObjectKey key);
  /// Releases a pod whose ShadowPod is gone. `last`: the UID of the last ShadowPod that was seen there.
  asio::awaitable<kube::Outcome> release_orphan(kube::ObjectKey key, std::string last);
  /// Whether the ShadowPod may be older than what this process has seen of it.
  bool is_inherited(const kube::Object& shadow) const;
  /// Enqueues the Pods that wait in twins whose policy may have changed.
  void see_namespace(const kube::Change& ns);
  /// Enqueues a ShadowPod that waited for the bounds of its twin.
  void wake(const kube::ObjectKey& key);
  void enqueue(const kube::ObjectKey& key);
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_, namespaces_;
  OrderMemories memories_;
  BoundedTwins bounded_;
  TwinConsumers consumers_;
  ShadowPodWriter shadow_writer_;
  TwinPodWriter pod_writer_;
  TwinPodMaker maker_;
  kube::TimePoint begun_{};  ///< the time since when only this process has made Pods
  kube::Controller controller_;
};

}  // namespace liqo::controllers
