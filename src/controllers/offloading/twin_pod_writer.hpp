// What the provider writes on the Pods that it has made for ShadowPods.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp and test/unit/controllers/offloading/resize_test.cpp.
// Tested by test/unit/controllers/offloading/ephemeral_containers_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "controllers/offloading/bounded_twins.hpp"
#include "controllers/offloading/order_memories.hpp"
#include "core/offloading/ephemeral_containers.hpp"
#include "core/offloading/resize.hpp"

namespace liqo::controllers {

/// Writes on Pods in twins, whose readers see each answer at once. One thread.
class TwinPodWriter {
 public:
  /// `bounded` and `memories` outlive this.
  TwinPodWriter(Context context, BoundedTwins& bounded, OrderMemories& memories);

  /// Takes our finalizer off the pod, if it is there. `confirm_first`: not if the live ShadowPod is the pod's
  /// controller.
  asio::awaitable<kube::Result<void>> release(const kube::Object& pod, bool confirm_first);
  /// The pod has gone from the cache.
  void note_gone(const kube::ObjectKey& key) { released_.erase(key); }
  /// Brings the Pod to what its ShadowPod says. A refusal is an Event of the ShadowPod, too.
  asio::awaitable<kube::Result<void>> patch(const kube::Object& shadow, const kube::json::object& patch);
  /// Adds an ephemeral container to the Pod, or notes there that the API server refuses it.
  asio::awaitable<kube::Result<void>> add_ephemeral(const kube::Object& shadow, const kube::Object& pod,
                                                    core::EphemeralAddition addition);
  /// Resizes the Pod, or notes there that it is refused. Returns after which time that is tried again; nothing where
  /// the change of the Pod brings it back.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> resize(const kube::Object& shadow,
                                                                      const kube::Object& pod, core::PodResize plan);

 private:
  Context context_;
  BoundedTwins& bounded_;
  OrderMemories& memories_;
  kube::InformerHandle pods_;
  std::unordered_map<kube::ObjectKey, std::string> released_;  ///< UIDs of released pods that are still in the cache
};

}  // namespace liqo::controllers
