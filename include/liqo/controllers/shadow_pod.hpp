// The provider's half of offloading: ShadowPod → Pod, recreated when it is lost, never when it has finished.
#pragma once

#include <string>
#include <unordered_map>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/controllers/runnable.hpp"
#include "liqo/core/shadow_plan.hpp"

namespace liqo::controllers {

/// Serves all consumers of this cluster; each has its share of the workers. The durable record of what has run is the
/// ShadowPod's `status.phase`: a restart at any moment neither runs a pod twice nor forgets one. One thread.
class ShadowPodController final : public Runnable {
 public:
  ShadowPodController(const asio::any_io_executor& executor, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return shadows_->has_synced() && pods_->has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  struct Memory {
    std::string uid;
    core::ShadowMemory plan;
    kube::TimePoint created_at{};
    kube::TimePoint in_doubt_until{};  ///< for `ShadowMemory::create_in_doubt`
    std::string awaited;               ///< UID of the pod whose node is to say what became of it
    kube::TimePoint awaited_since{};   ///< for `ShadowMemory::node_silent`
  };
  /// What is to be done about a pod whose ShadowPod is gone. `last`: the UID of the last ShadowPod that was seen there.
  asio::awaitable<kube::Outcome> release_orphan(kube::ObjectKey key, std::string last);
  /// Takes our finalizer off, if it is there. `confirm_first`: not if the live ShadowPod is the pod's controller.
  asio::awaitable<kube::Result<void>> release(kube::Object pod, bool confirm_first);
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  void enqueue(const kube::ObjectKey& key);
  void enqueue_all();

  Context context_;
  kube::InformerHandle shadows_, pods_;
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  std::unordered_map<kube::ObjectKey, std::string> released_;  ///< UIDs of pods that the cache has not let go yet
  kube::Controller controller_;
};

}  // namespace liqo::controllers
